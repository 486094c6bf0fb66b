// The memory network as a graph, now and as each pass left it, drawn by Cytoscape.js.
"use strict";
(() => {
  const box = document.getElementById("graph");
  const by = (id) => document.getElementById(id);
  const words = box.dataset;
  const passes = words.passes ? words.passes.split(",").map(Number) : [];
  // The strongest links that are drawn at once; all links of a chosen node are drawn besides.
  const MOST_LINKS = 1500, MOST_OF_MANY = 500, MANY = 1000; // of many nodes fewer links
  const MOST_STUMPS = 150, MOST_NAMES = 18, LISTED = 30, LEVELS = 6;
  const STEP_MS = 300, AHEAD = 3, CLOSEST = 2;
  const GOLDEN = Math.PI * (3 - Math.sqrt(5));
  const texts = new Map(); // of a node now → the beginning of its text
  const frames = new Map(); // of a pass, or "now" → promise of its network
  const places = new Map(); // of a node → {x, y, hub, born, gone}
  const hubs = new Map(); // of an entity → {x, y, size}: its memories lie around it
  let unit = 13; // between neighbours; more in a small network
  const drawn = new Map(); // of an element → its present classes
  let cy, current, chosen = null, playing = false, step = 0;
  let lines = new Set(); // ids of the links and stumps that are drawn

  // ---- Data

  function frame(at) {
    if (!frames.has(at)) {
      const url = at === "now" ? words.network : `${words.network}&pass=${at}`;
      frames.set(at, fetch(url).then(async (answer) => {
        if (!answer.ok) throw new Error(answer.statusText);
        return read(await answer.json());
      }));
    }
    return frames.get(at);
  }

  function read(data) {
    const nodes = new Map(data.nodes.map(([id, entity, name, importance, length, whole, focus, pinned]) =>
      [id, { id, entity, name, importance, left: entity ? 1 : Math.min(1, length / Math.max(1, whole)), focus, pinned }]));
    if (data.pass === null) for (const node of nodes.values()) texts.set(node.id, node.name);
    const links = data.links.map(([source, target, strength, dangling]) =>
      ({ id: `${dangling ? "d" : "l"}${source}-${target}`, source, target, dangling, strength, classes: `w${level(strength)}${dangling ? " cut" : ""}` }));
    dress(nodes);
    const most = nodes.size > MANY ? MOST_OF_MANY : MOST_LINKS;
    const strongest = links.filter((each) => !each.dangling && nodes.has(each.target)).slice(0, most);
    return { pass: data.pass, nodes, links, strongest, stumps: links.filter((each) => each.dangling).slice(0, MOST_STUMPS) };
  }

  // Each node's looks, when its network arrives, so that a step of the time-lapse only compares them.
  function dress(nodes) {
    let names = 0;
    for (const node of nodes.values()) {
      const kind = (node.entity ? "entity" : "memory") + (node.focus ? " focus" : "") + (node.pinned ? " pinned" : "");
      node.classes = `${kind} s${size(node.importance)} o${level(node.left)}${node.entity && names++ < MOST_NAMES ? " named" : ""}`;
    }
  }

  const called = (node) => texts.get(node.id) ?? node.name;

  // ---- Places: each memory lies around the entity of its strongest link, and keeps its place

  function homes({ nodes, links }) {
    const found = new Map();
    for (const { source, target, strength } of links) {
      for (const [memory, entity] of [[source, target], [target, source]]) {
        const best = found.get(memory);
        if (nodes.has(memory) && !nodes.get(memory).entity && nodes.get(entity)?.entity
            && (!best || strength > best.strength)) found.set(memory, { entity, strength });
      }
    }
    return found;
  }

  function layOut(networks) {
    const members = new Map(), home = new Map(), focus = new Set();
    for (const network of networks) {
      const found = homes(network);
      for (const node of network.nodes.values()) {
        if (node.focus) focus.add(node.id);
        const hub = node.entity ? node.id : found.get(node.id)?.entity ?? 0;
        if (!home.has(node.id) || (home.get(node.id) === 0 && hub)) home.set(node.id, hub);
      }
    }
    for (const [node, hub] of home) {
      if (!members.has(hub)) members.set(hub, []);
      if (node !== hub) members.get(hub).push(node);
    }
    const order = [...members.keys()].sort((a, b) =>
      focus.has(b) - focus.has(a) || members.get(b).length - members.get(a).length || a - b);
    unit = Math.max(13, Math.min(36, 420 / Math.sqrt(home.size)));
    const placed = [];
    let start = 0;
    for (const hub of order) {
      const radius = unit * (1.4 + Math.sqrt(members.get(hub).length));
      for (let turn = start; ; turn++) {
        const far = unit * Math.sqrt(turn), x = Math.cos(turn * GOLDEN) * far, y = Math.sin(turn * GOLDEN) * far;
        if (placed.every((other) => Math.hypot(x - other.x, y - other.y) > radius + other.radius)) {
          placed.push({ x, y, radius });
          hubs.set(hub, { x, y, size: 0 });
          start = Math.max(0, turn - 600);
          break;
        }
      }
      if (hub) places.set(hub, { x: hubs.get(hub).x, y: hubs.get(hub).y });
      for (const node of members.get(hub)) around(node, hub);
    }
  }

  function around(node, hub) {
    const centre = hubs.get(hub) ?? hubs.get(0) ?? { x: 0, y: 0, size: 0 };
    const turn = ++centre.size, far = unit * (0.9 + Math.sqrt(turn));
    places.set(node, { x: centre.x + Math.cos(turn * GOLDEN) * far, y: centre.y + Math.sin(turn * GOLDEN) * far });
  }

  function placeNew(network) {
    const missing = [...network.nodes.keys()].filter((id) => !places.has(id));
    if (!missing.length) return;
    const found = homes(network);
    for (const id of missing) around(id, found.get(id)?.entity ?? 0);
  }

  // ---- Drawing: classes in few steps, so that a pass changes few elements

  const level = (share) => Math.min(LEVELS - 1, Math.floor(share * LEVELS));
  const size = (importance) => Math.min(9, Math.floor(2.2 * Math.sqrt(importance)));

  function style() {
    const colour = (name) => getComputedStyle(document.querySelector(`.swatch.${name}`)).color;
    const ink = getComputedStyle(document.body).color;
    const steps = Array.from({ length: LEVELS }, (_, at) => at);
    return [
      { selector: "node", style: { "background-color": colour("memory"), "overlay-opacity": 0 } },
      { selector: ".entity", style: { "background-color": colour("entity"), shape: "diamond" } },
      { selector: ".focus", style: { "background-color": colour("focus") } },
      ...Array.from({ length: 10 }, (_, at) => ({ selector: `.s${at}`, style: { width: 6 + 2.4 * at, height: 6 + 2.4 * at } })),
      ...steps.map((at) => ({ selector: `.o${at}`, style: { opacity: 1 - 0.8 * (LEVELS - 1 - at) / LEVELS } })),
      { selector: ".ghost", style: { width: 4, height: 4, opacity: 0.22, "background-color": colour("ghost") } },
      { selector: ".unborn", style: { display: "none" } },
      { selector: ".stump", style: { width: 1, height: 1, opacity: 0, events: "no" } },
      { selector: "edge", style: { width: 1, "curve-style": "haystack", "haystack-radius": 0, "line-color": colour("ghost"), events: "no" } },
      ...steps.map((at) => ({ selector: `.w${at}`, style: { opacity: 0.08 + 0.6 * (at / LEVELS), width: 0.6 + 1.4 * at / LEVELS } })),
      { selector: ".cut", style: { "line-style": "dashed", "line-color": colour("focus") } },
      { selector: ".named", style: { label: "data(name)", color: ink, "font-size": 11, "text-margin-y": -3, "text-max-width": 140, "text-wrap": "ellipsis", "font-family": getComputedStyle(document.body).fontFamily } },
      { selector: ".pinned", style: { "border-width": 2, "border-color": ink } },
      { selector: ".dim", style: { opacity: 0.06 } },
      { selector: ".chosen", style: { label: "data(name)", color: ink, "font-size": 11, "text-max-width": 200, "text-wrap": "ellipsis", "underlay-color": ink, "underlay-opacity": 0.25, "underlay-padding": 6, "underlay-shape": "ellipse", "z-index": 9 } },
    ];
  }

  function put(id, group, data, classes, position) {
    if (drawn.get(id) === classes) return;
    const element = drawn.has(id) ? cy.getElementById(id) : null;
    drawn.set(id, classes);
    if (element?.length) element.classes(classes);
    else cy.add({ group, data: { id, ...data }, classes, position: position && { x: position.x, y: position.y } });
  }

  function shownLinks(network) {
    const shown = [...network.strongest, ...network.stumps];
    if (chosen === null) return shown;
    const near = network.links.filter((each) => each.source === chosen || each.target === chosen);
    return new Set([...shown, ...near.filter((each) => each.dangling || network.nodes.has(each.target))]);
  }

  function draw(network) {
    placeNew(network);
    const pass = network.pass ?? Infinity, wanted = new Set(), near = neighbours(network);
    const lit = (classes, isLit) => (near === null || isLit ? classes : `${classes} dim`);
    cy.batch(() => {
      for (const node of network.nodes.values()) {
        const place = places.get(node.id);
        place.born = Math.min(place.born ?? Infinity, pass);
        put(`n${node.id}`, "nodes", { node: node.id, name: called(node) }, lit(node.classes, near?.has(node.id)) + (near && node.id === chosen ? " chosen" : ""), place);
      }
      for (const [id, place] of places) {
        if (!network.nodes.has(id) && drawn.has(`n${id}`)) {
          put(`n${id}`, "nodes", {}, place.born < pass ? lit("ghost", near?.has(id)) : "unborn");
        }
      }
      for (const link of shownLinks(network)) {
        wanted.add(link.id);
        const classes = lit(link.classes, link.source === chosen || link.target === chosen);
        if (link.dangling) stump(link, classes, wanted);
        else put(link.id, "edges", { source: `n${link.source}`, target: `n${link.target}` }, classes);
      }
      for (const id of lines) {
        if (!wanted.has(id)) {
          drawn.delete(id);
          cy.getElementById(id).remove();
        }
      }
      lines = wanted;
    });
    current = network;
  }

  function stump(link, classes, wanted) {
    const from = places.get(link.source), to = places.get(link.target);
    const angle = to ? Math.atan2(to.y - from.y, to.x - from.x) : link.target * GOLDEN;
    const end = `s${link.id}`;
    wanted.add(end);
    put(end, "nodes", {}, "stump", { x: from.x + 16 * Math.cos(angle), y: from.y + 16 * Math.sin(angle) });
    put(link.id, "edges", { source: `n${link.source}`, target: end }, classes);
  }

  // The chosen node and those that it is linked to; null if all are shown alike.
  function neighbours(network) {
    if (!network.nodes.has(chosen)) return null;
    const near = new Set([chosen]);
    for (const { source, target } of network.links) {
      if (source === chosen) near.add(target);
      if (target === chosen) near.add(source);
    }
    return near;
  }

  // ---- What stands beside the picture

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function list() {
    const wanted = by("find").value.trim().toLowerCase();
    const found = [...current.nodes.values()].filter((each) => !wanted || called(each).toLowerCase().includes(wanted))
      .sort((a, b) => b.importance - a.importance).slice(0, LISTED);
    by("nodes").replaceChildren(...found.map((node) => {
      const item = document.createElement("li"), link = document.createElement("a"), name = document.createElement("bdi"), number = document.createElement("span");
      link.href = words.node + node.id;
      name.textContent = called(node);
      if (node.entity) name.className = "entity";
      number.textContent = node.importance.toFixed(2);
      number.className = "muted";
      link.append(name, number);
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        choose(node.id, true);
      });
      item.append(link);
      return item;
    }));
  }

  function curves(fading) {
    const cursors = [];
    for (const name of ["memories", "importance", "length"]) {
      const values = fading[name], svg = by(`curve-${name}`);
      if (!svg || !values.length) continue;
      const top = Math.max(...values, name === "length" ? 1 : 0) || 1, across = 100 / Math.max(1, values.length - 1);
      svg.querySelector("polyline").setAttribute("points", values.map((each, at) => `${at * across},${100 - 100 * each / top}`).join(" "));
      cursors.push((at) => {
        for (const end of ["x1", "x2"]) svg.querySelector("line").setAttribute(end, at * across);
        by(`value-${name}`).textContent = name === "memories" ? values[at] : name === "length" ? `${Math.round(100 * values[at])} %` : values[at].toFixed(2);
      });
    }
    return (pass) => {
      if (!fading.passes.length) return;
      let at = fading.passes.findLastIndex((each) => each <= pass);
      cursors.forEach((move) => move(Math.max(0, at)));
    };
  }
  let moveCursor = () => {};

  function tell(network) {
    const pass = network.pass ?? Infinity;
    by("at").textContent = network.pass === null ? words.now : fill(words.atPass, { n: network.pass });
    by("pass").setAttribute("aria-valuetext", by("at").textContent);
    by("shown").textContent = fill(words.shown, { nodes: network.nodes.size, links: current.strongest.length + current.stumps.length });
    box.dataset.nodes = network.nodes.size;
    box.dataset.at = network.pass ?? "now";
    moveCursor(pass);
    if (!playing) list();
  }

  // ---- The time-lapse

  const at = (index) => (index >= passes.length ? "now" : passes[index]);

  async function show(index) {
    const mine = ++step;
    const network = await frame(at(index));
    if (mine !== step) return;
    performance.mark("step-begins");
    draw(network);
    tell(network);
    performance.measure("step-drawn", "step-begins");
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    performance.measure("step", "step-begins");
    for (let ahead = 1; ahead <= AHEAD && index + ahead <= passes.length; ahead++) frame(at(index + ahead));
  }

  // Draws the present network again, unless another one is looked at.
  async function refresh() {
    if (playing || by("pass").valueAsNumber < passes.length) return;
    frames.delete("now");
    await show(passes.length);
    if (chosen && !current.nodes.has(chosen)) showAll(); // it was corrected, deleted or forgotten
  }

  async function play() {
    playing = !playing;
    by("play").textContent = playing ? words.pause : words.play;
    const slider = by("pass");
    if (playing && slider.valueAsNumber >= passes.length) slider.value = 0;
    while (playing) {
      await show(slider.valueAsNumber);
      if (slider.valueAsNumber >= passes.length) break;
      await new Promise((done) => setTimeout(done, STEP_MS));
      if (playing) slider.value = slider.valueAsNumber + 1;
    }
    playing = false;
    by("play").textContent = words.play;
    list();
  }

  // ---- One node

  // Names have the same size at every zoom.
  let resizing = 0;
  function sizeNames() {
    clearTimeout(resizing);
    resizing = setTimeout(() => cy.batch(() => {
      const zoom = Math.max(0.2, cy.zoom());
      cy.elements(".named, .chosen").style({ "font-size": 11.5 / zoom, "text-max-width": 160 / zoom });
    }), 120);
  }

  function choose(id, follow) {
    chosen = id;
    draw(current);
    if (follow) {
      const near = cy.elements(":visible").not(".dim");
      box.dataset.moving = "";
      const zoom = Math.min(CLOSEST, cy.getFitViewport(near, 80)?.zoom ?? 1);
      cy.animate({ complete: () => delete box.dataset.moving, zoom, center: { eles: near }, duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250 });
    }
    sizeNames();
    htmx.ajax("GET", words.node + id, { target: "#node", swap: "innerHTML" }).then(() => by("node").focus({ preventScroll: follow !== true }));
  }

  function showAll() {
    chosen = null;
    draw(current);
    cy.fit(undefined, 20);
  }

  // ---- Start

  async function start() {
    const few = [0, Math.floor(passes.length / 2), passes.length - 1].filter((each, index, all) => each >= 0 && all.indexOf(each) === index);
    const [now, ...past] = await Promise.all([frame("now"), ...few.map((each) => frame(passes[each]))]);
    layOut([now, ...past]);
    cy = cytoscape({ container: box, style: style(), layout: { name: "preset" }, pixelRatio: Math.min(2, devicePixelRatio), minZoom: 0.05, maxZoom: 6, boxSelectionEnabled: false, autoungrabify: true, hideEdgesOnViewport: now.nodes.size > 3000 });
    cy.on("tap", "node", (event) => choose(event.target.data("node")));
    cy.on("zoom", sizeNames);
    cy.on("tap", (event) => { if (event.target === cy && chosen) { by("node").replaceChildren(); showAll(); } });
    draw(now);
    cy.fit(undefined, 20);
    tell(now);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style()));
    by("pass").addEventListener("input", (event) => { playing = false; show(event.target.valueAsNumber); });
    by("play").addEventListener("click", play);
    by("all").addEventListener("click", () => { by("node").replaceChildren(); showAll(); });
    by("find").addEventListener("input", list);
    document.body.addEventListener("update", (event) => { if (event.detail.happened) refresh(); });
    document.body.addEventListener("htmx:afterRequest", (event) => { if (event.detail.requestConfig.verb === "post") refresh(); });
    if (words.selected) choose(Number(words.selected), true);
    const asked = passes.indexOf(Number(words.pass));
    if (words.pass && asked >= 0) { by("pass").value = asked; show(asked); }
    performance.mark("graph-shown");
    if (passes.length) {
      const answer = await fetch(words.fading);
      if (answer.ok) { moveCursor = curves(await answer.json()); moveCursor(current.pass ?? Infinity); }
    }
  }

  start().catch((error) => { by("shown").textContent = words.failed; throw error; });
})();
