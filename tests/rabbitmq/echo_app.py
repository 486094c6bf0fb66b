"""A context worker that answers with the question: ``celery -A tests.rabbitmq.echo_app worker``."""

import os
import random
import time

from memci.broker.app import make_app
from memci.broker.names import read_task
from memci.broker.read_calls import wrap_answer

app = make_app(os.environ["MEMCI_BROKER_URL"])


@app.task(name=read_task("search"))
def search(*, wrapped, **arguments):
    assert wrapped
    time.sleep(random.random() / 100)
    return wrap_answer(arguments)
