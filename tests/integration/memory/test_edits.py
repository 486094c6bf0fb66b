"""Single memories that people add, correct, pin and delete."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from memci.domain.job import JobKind
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import ConflictError, NotFoundError
from memci.jobs.restore_memory import _Whole
from memci.schemas.memories import DeleteAnswer
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.ports import Judgement
from memci.storage.messages import read_messages
from memci.storage.network.network_editions import open_edition
from memci.storage.pins import read_pins
from memci.storage.reading.messages import list_messages
from memci.storage.reading.recall import seen
from memci.storage.search.find import Restriction
from tests.support.archives import export_agent, import_agent
from tests.support.erasing import MARK, Eraser, found_in_database
from tests.support.mailbox import Mailbox
from tests.support.models import OneSegmentAMessage
from tests.support.naming import BACKUP, LUNCH, Meanwhile, PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same
from tests.support.summing import SummariesUnderTest
from tests.support.tracking import TrackingUnderTest

FADING = MemoryParameters(focus_limit=1, decay_rate=0.1, min_shrink=0)


def shown(ada: AgentUnderTest) -> list[str]:
    """The messages as reads show them."""
    seqs = [row.seq for row in ada.rows("SELECT seq FROM message WHERE agent_id = %s")]
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        return [each.text for each in read_messages(connection, ada.agent_id, seqs)]


def names(ada: AgentUnderTest) -> set[str]:
    return {node.content for node in ada.nodes("entity")}


def stored(ada: AgentUnderTest) -> list[str | None]:
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        listed = list_messages(connection, ada.agent_id, session_id=None, after=0, limit=99)
    return [message.content for message, *_ in listed]


def test_an_added_fact_is_one_pinned_memory(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    text = "Ann likes tea [Ann].\n\nBob likes cake [Bob]."
    rebuilding.add(text, "Rex is a dog [Rex]")
    rebuilding.run()
    both = ada.nodes("memory")
    assert [(each.content, each.pinned, each.tier) for each in both] == [
        (text, True, "long"), ("Rex is a dog [Rex]", True, "long"),
    ]  # fmt: skip


def test_a_pinned_memory_does_not_fade(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.parameters = FADING
    ada.remember("A story of [Grace] and the sea", "B story of [Ann] and the hill", session="one")
    a, b = (ada.memories()[name].id for name in "AB")
    rebuilding.edit(a, pinned=True)
    ada.remember("C [Oslo]", session="two")
    ada.compress(9)
    assert ada.memories().keys() == {"A"} | (ada.memories().keys() & {"C"})
    assert ada.memories()["A"].content == "A story of [Grace] and the sea"
    assert ada.trail(b)[-1] == "forgotten"
    rebuilding.edit(a, pinned=False)
    ada.compress(3)
    assert "A" not in ada.memories()
    assert ada.trail(a)[1:] == ["edited", "edited", "forgotten"]


def test_a_correction_replaces_a_memory_at_once(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I was born in Rome [Rome].\n\nI have a dog [Rex].", user="ann")
    old, dog = ada.nodes("memory")
    rebuilding.edit(old.id, text="I was born in Bonn [Bonn]", worth=9)
    assert [each.id for each in ada.nodes("memory")] == [dog.id]
    assert shown(ada)[0] == "… I have a dog [Rex]."
    assert stored(ada)[0] == "I was born in Rome [Rome].\n\nI have a dog [Rex]."
    with pytest.raises(ConflictError, match="wait until its new text is a memory"):
        rebuilding.edit(old.id, pinned=False)
    rebuilding.run()
    new = ada.nodes("memory")[-1]
    assert (new.content, new.pinned, new.user_id) == ("I was born in Bonn [Bonn]", True, "ann")
    assert (new.worth, new.type, new.said_at) == (9, old.type, old.said_at)
    with pytest.raises(ConflictError, match=f"is memory {new.id} now"):
        rebuilding.edit(old.id, text="I was born in Oslo")
    (version,) = ada.rows("SELECT * FROM node_version WHERE agent_id = %s")
    assert (version.node_id, version.replaced_by, version.reason) == (old.id, new.id, "corrected")
    assert version.content == old.content
    rebuilding.edit(new.id, text="I was born in Oslo [Oslo]")
    rebuilding.run()
    assert shown(ada)[1:] == ["…", "I was born in Oslo [Oslo]"]
    rebuilding.rebuilt()
    rebuilding.switch()
    rebuilding.run()
    oslo = ada.nodes("memory")[-1]
    with pytest.raises(ConflictError, match=f"memory {old.id} is memory {oslo.id} now"):
        rebuilding.edit(old.id, pinned=False)
    with pytest.raises(ConflictError, match=f"{dog.id} is switched: the ids changed with the reb"):
        rebuilding.edit(dog.id, pinned=False)
    rebuilding.delete(oslo.id)
    deleted = f"memory {old.id} became memory {oslo.id}, which is deleted: add what holds as a new"
    with pytest.raises(ConflictError, match=deleted):
        rebuilding.edit(old.id, pinned=False)


def test_a_corrected_short_term_memory_stays_in_its_session(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.models.judge.rest = Judgement(eligible=False, worth=9.0)
    ada.remember("I was born in Rome [Rome].", session="one")
    (old,) = ada.nodes("memory")
    ada.models.judge.rest = Judgement(eligible=True, worth=9.0)
    rebuilding.edit(old.id, text="I was born in Bonn [Bonn]")
    rebuilding.run()

    def seen_from(session: str, on: AgentUnderTest) -> set[int]:
        ids = [each.id for each in on.nodes("memory")]
        with on.database.agent_snapshot(on.agent_id) as connection:
            return seen(connection, on.agent_id, ids, Restriction(session_id=session))

    (new,) = ada.nodes("memory")
    assert (old.tier, new.tier, new.session_id, new.pinned) == ("short", "short", "one", True)
    assert seen_from("one", ada) == {new.id}
    assert seen_from("two", ada) == set()
    assert is_same(rebuilding.rebuilt())
    rebuilding.switch()
    rebuilding.run()
    assert len(seen_from("one", ada)) == 1
    assert seen_from("two", ada) == set()


def test_a_deleted_memory_stays_deleted(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("I was born in Rome [Rome].\n\nI have a dog [Rex].")
    rome, dog = ada.nodes("memory")
    assert rebuilding.delete(rome.id) == DeleteAnswer(deleted=[rome.id], already=[])
    assert rebuilding.delete(rome.id) == DeleteAnswer(deleted=[], already=[rome.id])
    assert shown(ada) == ["… I have a dog [Rex]."]
    assert not [link for link in ada.links() if rome.id in link], "no hint tells it"
    assert ada.trail(rome.id) == ["created", "deleted"]
    with pytest.raises(ConflictError, match="was deleted: add what holds"):
        rebuilding.restore(rome.id)
    assert is_same(rebuilding.rebuilt())
    rebuilding.switch()
    rebuilding.run()
    assert [each.content for each in ada.nodes("memory")] == [dog.content]
    # Other models cut elsewhere: one memory tells both.
    ada.models.segmenter = _Whole()
    rebuilding.rebuilt()
    assert rebuilding.on_edition().nodes("memory") == []
    rebuilding.drop()
    # A network of the messages up to one before the deletion.
    ada.models.segmenter = OneSegmentAMessage()
    ada.remember("Later [Luigi]")
    rebuilding.rebuilt(up_to_seq=1)
    assert [each.content for each in rebuilding.on_edition().nodes("memory")] == [dog.content]


def test_names_that_only_a_deleted_memory_tells_are_not_shown(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("Ann was born in Rome [Rome] [Ann].", "My dog is [Rex].", "Ann likes tea [Ann].")
    rome, rex, _ = ada.nodes("memory")
    rebuilding.delete(rome.id)
    assert names(ada) == {"Rex", "Ann"}
    assert set(ada.focus()) == {"Rex", "Ann"}
    assert not [link for link in ada.links() if "Rome" in str(link)]
    rebuilding.edit(rex.id, text="My dog is called [Max].")
    assert names(ada) == {"Ann"}
    rebuilding.run()
    assert names(ada) == {"Ann", "Max"}
    assert is_same(rebuilding.rebuilt())
    assert names(rebuilding.on_edition()) == {"Ann", "Max"}


def test_a_memory_does_not_fade_since_the_name_it_hangs_on_is_hidden(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I am in Rome [Rome]", session="one")
    ada.remember("I do it by ear", session="two")
    rome, ear = ada.nodes("memory")
    rebuilding.delete(rome.id)
    assert names(ada) == {"…"}
    assert "Rome" not in str([*ada.links(), *ada.nodes("entity")])
    ada.compress(2)
    assert [node.id for node in ada.nodes("memory")] == [ear.id]
    assert is_same(rebuilding.rebuilt())
    rebuilding.delete(ear.id)
    assert ada.nodes("entity") == []


def test_hidden_names_of_one_message_stay_apart(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = replace(ada.parameters, focus_limit=1)
    ada.remember(
        "In Rome [Rome].\n\nI do it by ear.\n\nIn Oslo [Oslo].\n\nWe do it by ear.\n\n"
        "In Bonn [Bonn].\n\nThey do it by ear."
    )
    ada.execute("DELETE FROM link WHERE agent_id = %s AND relation <> 'about'")
    rome, ear, oslo, ours, bonn, theirs = (node.id for node in ada.nodes("memory"))
    rebuilding.delete(rome)
    rebuilding.delete(oslo)
    assert [node.content for node in ada.nodes("entity")] == ["…", "…", "Bonn"]
    rebuilding.delete(ear)
    assert [node.content for node in ada.nodes("entity")] == ["…", "Bonn"]
    rebuilding.delete(bonn)
    assert [node.content for node in ada.nodes("entity")] == ["…", "…"]
    assert [node.id for node in ada.nodes("memory")] == [ours, theirs]


def test_edits_are_moved_with_their_agent(ada: AgentUnderTest, rebuilding: Rebuilding) -> None:
    ada.remember("A [Grace]", "B [Luigi]", "C [Oslo]")
    a, b, c = (ada.memories()[name].id for name in "ABC")
    rebuilding.delete(a)
    rebuilding.edit(b, text="D [Luigi]")
    rebuilding.edit(c, pinned=True)
    rebuilding.run()
    archive = export_agent(ada.database, ada.agent_id)
    import_agent(ada.database, archive, "bea")
    bea = AgentUnderTest(ada.database, "bea", models=ada.models, known=True)
    assert shown(bea) == shown(ada) == ["…", "…", "C [Oslo]", "D [Luigi]"]
    assert [(n.content, n.pinned) for n in bea.nodes("memory")] == [
        ("C [Oslo]", True), ("D [Luigi]", True),
    ]  # fmt: skip
    assert is_same(Rebuilding(bea).rebuilt())


def test_what_is_no_living_memory_cannot_be_edited(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("A [Grace]", "B [Luigi]")
    grace = next(node.id for node in ada.nodes("entity") if node.content == "Grace")
    a, b = (ada.memories()[name].id for name in "AB")
    for change in (rebuilding.delete, lambda node: rebuilding.edit(node, pinned=True)):
        with pytest.raises(NotFoundError, match="never was a node 99"):
            change(99)
        with pytest.raises(ConflictError, match="is an entity"):
            change(grace)
    with pytest.raises(ConflictError, match="is an entity"):
        rebuilding.delete(a, grace)
    assert len(ada.nodes("memory")) == 2, "all or nothing"
    rebuilding.delete(b)
    with pytest.raises(ConflictError, match="is deleted: add what holds"):
        rebuilding.edit(b, text="B again")
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        assert open_edition(connection, ada.agent_id) is None


def test_an_edit_during_a_pass_makes_it_scan_again(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.parameters = MemoryParameters(focus_limit=1, decay_rate=0.6, min_shrink=0)
    ada.remember("A story of [Grace] and the sea", "B story of [Ann] and the hill", session="one")
    ada.remember("C [Oslo]", session="two")
    a, b = (ada.memories()[name].id for name in "AB")
    compressor = ada.models.compressor

    class Edits:
        """Pins one memory and deletes the other while the pass shortens them."""

        at_once = compressor.at_once
        edits = 0

        def compress(self, text: str, target: int) -> str:
            if not self.edits:
                rebuilding.edit(a, pinned=True)
                rebuilding.delete(b)
            self.edits += 1
            return str(compressor.compress(text, target))

    ada.models.compressor = Edits()
    ada.compress(8)
    assert ada.models.compressor.edits
    assert ada.memories()["A"].content == "A story of [Grace] and the sea"
    assert ada.trail(b)[-1] == "deleted"
    assert b not in {r[0] for r in ada.rows("SELECT node_id FROM node_vector WHERE agent_id = %s")}


def test_an_erased_message_takes_corrections_with_it(
    mailbox: Mailbox, eraser: Eraser, superuser: psycopg.Connection
) -> None:
    ada, rebuilding = mailbox.ada, Rebuilding(mailbox.ada)
    mailbox.append("A of Zyzzyva [Grace]", "B [Luigi]", ids=["m1", "m2"])
    mailbox.run()
    rebuilding.edit(ada.memories()["A"].id, text="C of Zyzzyva [Grace]")
    rebuilding.run()
    rebuilding.edit(ada.memories()["C"].id, text="D of Zyzzyva [Grace]")
    rebuilding.run()
    eraser.erase("m1")
    assert [node.content for node in ada.nodes("memory")] == ["B [Luigi]"]
    assert stored(ada) == ["B [Luigi]"]
    assert found_in_database(superuser, MARK) == []
    rebuilding.add("E of Zyzzyva [Grace]")
    rebuilding.run()
    (note,) = ada.rows("SELECT id FROM message WHERE agent_id = %s AND role = 'assistant'")
    eraser.erase(note.id)
    assert found_in_database(superuser, MARK) == []


def test_pins_and_summaries_of_what_is_deleted_go(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("Never book a window seat [Ann].\n\nAlways pay by card [Bob].")
    for number, (start, stop) in enumerate([(0, 30), (32, 57)], 1):
        ada.execute(
            "INSERT INTO pin (agent_id, number, kind, text, message_seq, span_start, span_end,"
            " pinned_by) VALUES (%s, %s, 'task', '', 1, %s, %s, 'detector')",
            number, start, stop,
        )  # fmt: skip
    ada.execute(
        "INSERT INTO summary (agent_id, session_id, user_id, through_seq, text)"
        " VALUES (%s, 's1', '', 1, 'Ann never books a window seat.')"
    )
    rebuilding.delete(ada.nodes("memory")[0].id)
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        pins = read_pins(connection, ada.agent_id).pins
    assert [pin.text.strip() for pin in pins] == ["Always pay by card [Bob]"]
    assert ada.rows("SELECT * FROM summary WHERE agent_id = %s") == []
    jobs = ada.rows("SELECT kind FROM job WHERE agent_id = %s AND state = 'queued'")
    assert JobKind.SUMMARISE in {job.kind for job in jobs}


def test_steps_of_plans_go_with_what_is_deleted(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    text = "Here is the plan:\n1. Call Luigi\n2. Book a table [Grace]\n\nThe sea is blue [Oslo]."
    ada.remember(text, role="assistant")
    tracking = TrackingUnderTest(ada)
    tracking.run()
    assert (plan := tracking.plan())
    assert [each.text for each in plan.steps] == ["Call Luigi", "Book a table [Grace]"]
    steps, sea = ada.nodes("memory")
    rebuilding.delete(sea.id)
    assert tracking.plan() == plan, "the other memory tells it"
    rebuilding.edit(steps.id, text="1. Call nobody")
    assert tracking.plan() is None
    assert ada.rows("SELECT text FROM plan_step WHERE agent_id = %s") == []


def test_names_and_entries_of_pages_do_not_tell_what_is_deleted(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("My code for the safe is 4711 [Safe].\n\nWhat is for lunch [Luigi]?")
    pages = PagesUnderTest(ada)
    ada.say("Soup.", role="assistant")
    pages.tell(BACKUP, LUNCH)
    pages.run()
    assert "4711" in str(pages.pages())
    pages.do("update_page", index="usr-1", name="The code 4711")
    safe = ada.nodes("memory")[0].id
    undone = Meanwhile(lambda: rebuilding.delete(safe))
    pages.summarizer = undone
    ada.execute("UPDATE page SET named = false WHERE agent_id = %s AND id = 'usr-1'")
    pages.run()
    assert undone.requests
    (first, *_) = pages.pages()
    assert (first.name, first.named) == ("… What is for lunch [Luigi]?", False)
    assert first.entries[0] == "user: … What is for lunch [Luigi]?"
    for table in ("page", "page_step"):
        assert "4711" not in str(ada.rows(f"SELECT * FROM {table} WHERE agent_id = %s")), table
    assert pages.waiting() == 1
    pages.summarizer = OfflineSummarizer()
    pages.run()
    (first, *_) = pages.pages()
    assert first.named
    assert "4711" not in str(ada.rows("SELECT * FROM page WHERE agent_id = %s"))
    assert "4711" not in pages.shown()


def test_pages_are_reworded_once_for_all_memories_of_a_request(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("My code is 4711 [Safe].\n\nMy cat is [Tom].\n\nWhat is for lunch [Luigi]?")
    pages = PagesUnderTest(ada)
    ada.say("Soup.", role="assistant")
    pages.tell(BACKUP, LUNCH)
    pages.run()
    ((before,),) = ada.rows("SELECT version FROM page_tree WHERE agent_id = %s")
    safe, cat, _ = (node.id for node in ada.nodes("memory"))
    rebuilding.delete(safe, cat)
    ((after,),) = ada.rows("SELECT version FROM page_tree WHERE agent_id = %s")
    assert after == before + 1
    assert pages.pages()[0].entries[0] == "user: … What is for lunch [Luigi]?"


def test_a_model_marks_no_pinned_memory_as_outdated(
    ada: AgentUnderTest, rebuilding: Rebuilding
) -> None:
    ada.remember("I live in Paris [Paris]")
    rebuilding.edit(ada.nodes("memory")[0].id, pinned=True, worth=9)
    ada.remember("I moved to Rome [Rome]")
    assert [node.superseded_by for node in ada.nodes("memory")] == [None, None]
    rebuilding.edit(ada.nodes("memory")[0].id, pinned=False)
    ada.remember("I moved to Oslo [Oslo]")
    assert ada.nodes("memory")[0].superseded_by is not None


@pytest.mark.parametrize("deleted", [False, True])
def test_what_is_deleted_while_it_is_summed_up_or_tracked_is_not_kept(
    ada: AgentUnderTest, rebuilding: Rebuilding, *, deleted: bool
) -> None:
    ada.parameters = replace(ada.parameters, preserve_recent=0)
    ada.remember("Never book a window seat for me, I get sick.")
    tracking = TrackingUnderTest(ada)
    job = replace(ada.job(1, 1, {"seqs": [1], "now": True}), kind=JobKind.SUMMARISE)
    effects = [SummariesUnderTest(ada).handler.prepare(job), tracking.begin()]
    if deleted:
        rebuilding.delete(ada.nodes("memory")[0].id)
    for effect in effects:
        tracking.write(effect)
    texts = [row.text for row in ada.rows("SELECT text FROM summary WHERE agent_id = %s")]
    assert any(texts) is not deleted
    pins = ada.rows("SELECT * FROM pin WHERE agent_id = %s")
    assert bool(pins) is not deleted
