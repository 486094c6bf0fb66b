// Sends "update" to the page when something may have changed: at each event of the server, at intervals besides, and
// more often without a stream of events. Nothing comes while the page is hidden, or while a person is in a part of it.
"use strict";
(() => {
  const { events, types } = document.currentScript.dataset;
  const EACH_MS = 2000, RARELY = 2, TOGETHER_MS = 500; // with a stream each second interval counts
  const IN_USE = "[hx-trigger] :is(details[open], button:focus-visible, a:focus-visible)";
  let stream, waiting, happened = false, interval = 0;

  function update(event) {
    happened ||= Boolean(event);
    waiting ??= setTimeout(() => {
      waiting = undefined;
      if (document.hidden || document.querySelector(IN_USE)) return;
      document.body.dispatchEvent(new CustomEvent("update", { detail: { happened } }));
      happened = false;
    }, TOGETHER_MS);
  }

  function listen() {
    stream?.close();
    if (document.hidden) return; // the server has few streams: others may need this one
    stream = new EventSource(events);
    for (const type of types.split(",")) stream.addEventListener(type, update);
  }

  document.addEventListener("visibilitychange", () => { listen(); update(); });
  setInterval(() => { if (stream?.readyState !== EventSource.OPEN || ++interval % RARELY === 0) update(); }, EACH_MS);
  listen();
})();
