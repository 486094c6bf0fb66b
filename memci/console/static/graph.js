// The memory network as a graph, now and as each pass left it, for mouse and fingers by Cytoscape.js.
"use strict";
(() => {
  const box = document.getElementById("graph");
  const by = (id) => document.getElementById(id);
  const words = box.dataset;
  const passes = words.passes ? words.passes.split(",").map(Number) : [];
  // The strongest links that are drawn at once; all links of a chosen node are drawn besides.
  const MOST_LINKS = 1500, MOST_OF_MANY = 500, MANY = 1000; // of many nodes fewer links
  const MOST_STUMPS = 150, MOST_NAMES = 18, LISTED = 30;
  const STEP_MS = 300, AHEAD = 3, CLOSEST = 2, FAINT = 0.07, STUMP = 16, MOST_LETTERS = 32;
  const GOLDEN = Math.PI * (3 - Math.sqrt(5));
  const texts = new Map(); // of a node now → the beginning of its text
  const frames = new Map(); // of a pass, or "now" → promise of its network
  const places = new Map(); // of a node → {x, y, hub, born, gone}
  const hubs = new Map(); // of an entity → {x, y, size}: its memories lie around it
  let unit = 13; // between neighbours; more in a small network
  const scale = () => Math.min(2, unit / 13); // of points
  const kinds = new Map(); // of a node → its present class in Cytoscape.js
  let cy, current, chosen = null, playing = false, step = 0;
  let scene = { lines: [], points: [] }, colours = {}; // what is painted

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
      ({ source, target, dangling, strength }));
    dress(nodes);
    const most = nodes.size > MANY ? MOST_OF_MANY : MOST_LINKS;
    const strongest = links.filter((each) => !each.dangling && nodes.has(each.target)).slice(0, most);
    return { pass: data.pass, nodes, links, strongest, stumps: links.filter((each) => each.dangling).slice(0, MOST_STUMPS) };
  }

  // Each node's looks, when its network arrives, so that a step of the time-lapse has less to do.
  function dress(nodes) {
    let names = 0;
    for (const node of nodes.values()) {
      node.colour = node.focus ? "focus" : node.entity ? "entity" : "memory";
      node.width = 6 + 2.4 * Math.min(9, 2.2 * Math.sqrt(node.importance));
      node.opacity = 0.2 + 0.8 * node.left;
      node.named = node.entity && node.name !== `#${node.id}` && names++ < MOST_NAMES;
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

  // ---- Drawing. Cytoscape.js knows the nodes, in few sizes, and says which one is meant. Its own way to draw thousands
  // of elements takes several times as long as this one, too long for a step of the time-lapse.

  function lookUpColours() {
    const page = getComputedStyle(document.body);
    colours = { ink: page.color, back: getComputedStyle(box).backgroundColor, family: page.fontFamily };
    for (const name of ["memory", "entity", "focus", "ghost"]) colours[name] = getComputedStyle(document.querySelector(`.swatch.${name}`)).color;
  }

  function style() {
    const sized = (selector, width) => ({ selector, style: { width: width * scale(), height: width * scale() } });
    return [...Array.from({ length: 10 }, (_, at) => sized(`.s${at}`, 8 + 2.4 * at)), sized(".ghost", 6), { selector: ".unborn", style: { display: "none" } }];
  }

  function put(node, kind, { x, y }) {
    const before = kinds.get(node);
    if (before === kind) return;
    kinds.set(node, kind);
    if (before) cy.getElementById(`n${node}`).classes(kind);
    else cy.add({ group: "nodes", data: { id: `n${node}`, node }, classes: kind, position: { x, y } });
  }

  function shownLinks(network) {
    const shown = [...network.strongest, ...network.stumps];
    if (chosen === null) return shown;
    const near = network.links.filter((each) => each.source === chosen || each.target === chosen);
    return new Set([...shown, ...near.filter((each) => each.dangling || network.nodes.has(each.target))]);
  }

  function draw(network) {
    placeNew(network);
    const pass = network.pass ?? Infinity, near = neighbours(network), points = [];
    const lit = (opacity, isLit) => (near === null || isLit ? opacity : FAINT);
    cy.batch(() => {
      for (const [id, place] of places) {
        const node = network.nodes.get(id);
        if (node) place.born = Math.min(place.born ?? Infinity, pass);
        const isGhost = !node && place.born < pass;
        if (node || kinds.has(id)) put(id, node ? `s${Math.floor((node.width - 6) / 2.4)}` : isGhost ? "ghost" : "unborn", place);
        if (isGhost) points.unshift({ place, width: 4 * scale(), colour: "ghost", opacity: lit(0.3, near?.has(id)) });
        if (node) points.push({ ...node, place, width: node.width * scale(), opacity: lit(node.opacity, near?.has(id)), chosen: near && id === chosen, named: node.named && (!near || near.has(id)) });
      }
    });
    const lines = [];
    for (const { source, target, strength, dangling } of shownLinks(network)) {
      const from = places.get(source), isLit = source === chosen || target === chosen;
      lines.push({ from, to: dangling ? stump(from, target) : places.get(target), dangling, opacity: lit(0.1 + 0.6 * strength, isLit), width: 0.6 + 1.4 * strength });
    }
    current = network;
    scene = { lines, points };
    box.dataset.chosen = near ? chosen : "";
    cy.forceRender();
  }

  function stump(from, target) {
    const to = places.get(target), angle = to ? Math.atan2(to.y - from.y, to.x - from.x) : target * GOLDEN;
    return { x: from.x + STUMP * Math.cos(angle), y: from.y + STUMP * Math.sin(angle) };
  }

  function paint(context) {
    for (const { from, to, dangling, opacity, width } of scene.lines) {
      context.globalAlpha = opacity;
      context.lineWidth = width;
      context.strokeStyle = dangling ? colours.focus : colours.ghost;
      context.setLineDash(dangling ? [3, 2] : []);
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
      context.stroke();
    }
    context.setLineDash([]);
    for (const point of scene.points) {
      if (point.chosen) fill(context, { place: point.place }, point.width / 2 + 6, colours.ink, 0.25);
      if (point.pinned) fill(context, point, point.width / 2 + 2, colours.ink, point.opacity);
      fill(context, point, point.width / 2, colours[point.colour], point.opacity);
    }
    context.globalAlpha = 1;
    for (const point of scene.points) if (point.named || point.chosen) write(context, point);
  }

  function fill(context, { place: { x, y }, entity }, radius, colour, opacity) {
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.beginPath();
    if (entity) for (const [right, down] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) context.lineTo(x + right * radius, y + down * radius);
    else context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }

  // A name has the same size at every zoom, and stays within the picture.
  function write(context, point) {
    const zoom = Math.max(0.2, cy.zoom()), { x1, x2, y1, y2 } = cy.extent(), name = called(point), at = point.place;
    if (at.x < x1 || at.x > x2 || at.y < y1 || at.y > y2) return;
    const text = name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS)}…` : name;
    context.font = `${12 / zoom}px ${colours.family}`;
    context.textAlign = "center";
    const half = context.measureText(text).width / 2 + 4 / zoom;
    const x = Math.max(x1 + half, Math.min(x2 - half, at.x)), y = at.y - point.width / 2 - 5 / zoom;
    context.lineWidth = 3 / zoom;
    context.strokeStyle = colours.back;
    context.strokeText(text, x, y);
    context.fillStyle = colours.ink;
    context.fillText(text, x, y);
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

  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  function list() {
    const wanted = by("find").value.trim().toLowerCase();
    const found = [...current.nodes.values()].filter((each) => !wanted || called(each).toLowerCase().includes(wanted))
      .sort((a, b) => b.importance - a.importance);
    by("listed").textContent = found.length > LISTED ? filled(words.listed, { n: LISTED, all: found.length }) : "";
    by("nodes").replaceChildren(...found.slice(0, LISTED).map((node) => {
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
      const at = Math.max(0, fading.passes.findLastIndex((each) => each <= pass));
      cursors.forEach((move) => move(at));
      by("figures").textContent = filled(words.figures, { n: fading.passes[at] });
    };
  }
  let moveCursor = () => {};

  function tell(network) {
    const pass = network.pass ?? Infinity;
    by("at").textContent = network.pass === null ? words.now : filled(words.atPass, { n: network.pass });
    by("pass").setAttribute("aria-valuetext", by("at").textContent);
    by("shown").textContent = filled(words.shown, { nodes: network.nodes.size, links: current.strongest.length + current.stumps.length });
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
    const before = cy.nodes().length;
    draw(network);
    if (cy.nodes().length > before && chosen === null) cy.fit(undefined, 20); // those of the past are seen, too
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

  function choose(id, follow) {
    chosen = id;
    draw(current);
    if (follow) lookAtChosen(matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250);
    htmx.ajax("GET", words.node + id, { target: "#node", swap: "innerHTML" }).then(() => by("node").focus({ preventScroll: follow !== true }));
  }

  function lookAtChosen(duration) {
    const around = neighbours(current) ?? places, near = cy.nodes(":visible").filter((each) => around.has(each.data("node")));
    const zoom = Math.min(CLOSEST, cy.getFitViewport(near, 80)?.zoom ?? 1);
    box.dataset.moving = "";
    cy.animate({ complete: () => delete box.dataset.moving, zoom, center: { eles: near }, duration });
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
    cy = cytoscape({ container: box, style: style(), layout: { name: "preset" }, pixelRatio: Math.min(2, devicePixelRatio), minZoom: 0.05, maxZoom: 6, boxSelectionEnabled: false, autoungrabify: true });
    lookUpColours();
    if (!cy.renderer().drawLayeredElements) throw new Error("this version of Cytoscape.js paints in another way");
    cy.renderer().drawLayeredElements = paint;
    cy.on("resize", () => (chosen === null ? cy.fit(undefined, 20) : lookAtChosen(0)));
    cy.on("tap", "node", (event) => choose(event.target.data("node")));
    cy.on("tap", (event) => { if (event.target === cy && chosen) { by("node").replaceChildren(); showAll(); } });
    draw(now);
    cy.fit(undefined, 20);
    tell(now);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { lookUpColours(); cy.forceRender(); });
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
