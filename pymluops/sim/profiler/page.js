"use strict";
// Draws the profile that stands as JSON in the element "data". Times are in ns.
const DATA = JSON.parse(document.getElementById("data").textContent);
const UNITS = DATA.units;
const $ = (id) => document.getElementById(id);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  for (const child of children) made.append(child);
  return made;
}

function time(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= size) return (ns / size).toFixed(2) + " " + unit;
  }
  return ns.toFixed(ns < 10 ? 1 : 0) + " ns";
}

function size(bytes) {
  for (const [unit, factor] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (bytes >= factor) return (bytes / factor).toFixed(1) + " " + unit;
  }
  return bytes + " B";
}

function percent(share) {
  return (100 * share).toFixed(share < 0.0995 ? 1 : 0) + " %";
}

const count = (number) => number.toLocaleString("en");

function table(id, head, rows) {
  const target = $(id);
  target.replaceChildren();
  const cells = head.map((text, i) => element("th", text.endsWith("<") ? { class: "left" } : {}, text.replace("<", "")));
  target.append(element("thead", {}, element("tr", {}, ...cells)));
  const body = element("tbody");
  for (const row of rows) {
    body.append(element("tr", {}, ...row.map((cell, i) => element("td", head[i].endsWith("<") ? { class: "left" } : {}, cell))));
  }
  if (!rows.length) body.append(element("tr", {}, element("td", { colspan: head.length }, "none")));
  target.append(body);
}

function bar(parts, whole) {
  const made = element("div", { class: "bar" });
  for (const [value, kind] of parts) {
    if (value > 0) made.append(element("i", { style: `width:${(100 * value) / whole}%;background:var(--${kind})` }));
  }
  return made;
}

function row(target, name, value, text, kind, over) {
  const parts = [element("span", over ? { class: "over" } : {}, name)];
  parts.push(bar([[Math.min(value, 1), over ? "wait" : kind]], 1));
  parts.push(element("span", { class: over ? "value over" : "value" }, text));
  target.append(element("div", { class: "row" }, ...parts));
}

// A smaller share of instructions with figures makes the estimate doubtful.
const FEW = 0.5;

// ---- Key figures and tables ---------------------------------------------------------------------------------------------

function showNumbers(launch) {
  $("kernel").textContent = launch.kernel;
  $("subtitle").textContent =
    `${launch.dim.join(" x ")} tasks, ${launch.kind}, ${launch.card}` + (launch.failed ? ": failed, counts until then" : "");
  const cores = launch.cores.filter((core) => core.core !== 128).length;
  const numbers = [
    [time(launch.estimate.ns), "estimated time"],
    [launch.bottleneck, "bottleneck, by the model", "text"],
    [percent(Math.max(launch.io_efficiency, 0)), "io efficiency: theory IO / bandwidth"],
    [percent(Math.max(launch.compute_efficiency, 0)), `compute efficiency: theory / peak of the ${launch.compute_units}`],
    [percent(launch.overlap), "of the time of copies, cores compute too"],
    [String(cores), cores === 1 ? "core runs a task" : "cores run tasks"],
  ];
  $("numbers").replaceChildren(
    ...numbers.map(([value, text, kind]) =>
      element("div", { class: "number " + (kind || "") }, element("b", {}, value), element("span", {}, text))),
  );
  const guesses = Object.values(launch.estimate.sources).filter((source) => source === "guess").length;
  const unsure = launch.estimate.modelled_share < FEW;
  $("note").className = unsure ? "note unsure" : "note";
  $("note").textContent =
    (unsure ? "Few of the instructions are modelled: times, bottleneck and efficiencies say little. " : "") +
    `Times are estimates by a model and no measurements: ${percent(launch.estimate.modelled_share)} of ` +
    `${count(launch.instructions)} instructions are modelled, ${guesses} of ` +
    `${Object.keys(launch.estimate.sources).length} figures are guesses. Counts are exact.`;
}

function showTables(launch) {
  table(
    "directions",
    ["direction", "calls", "pieces", "bytes", "of device memory", "call", "time"],
    Object.entries(launch.directions).map(([name, use]) => [
      name,
      count(use.copies),
      count(use.pieces),
      size(use.bytes),
      use.charged_bytes ? size(use.charged_bytes) : "-",
      use.least_bytes === use.most_bytes ? size(use.most_bytes) : `${size(use.least_bytes)} to ${size(use.most_bytes)}`,
      time(use.busy_ns),
    ]),
  );
  table(
    "intrinsics",
    ["intrinsic", "calls", "elements", "operations", "time"],
    Object.entries(launch.intrinsics).map(([name, use]) => [
      name + (use.known ? "" : " (not modelled)"),
      count(use.calls),
      count(use.elements),
      count(use.operations),
      time(use.busy_ns),
    ]),
  );
  const busiest = Math.max(...launch.cores.map((core) => UNITS.reduce((sum, unit) => sum + core.busy_ns[unit], 0)), 1e-9);
  const longest = Math.max(...launch.lines.map((line) => lineTime(line)), 1e-9);
  table(
    "lines",
    ["line", "source<", "calls", "bytes", "<", "busy", "waits"],
    launch.lines.map((line) => [
      `${line.file}:${line.line}`,
      line.text ? element("code", { title: line.text }, line.text) : element("small", {}, line.names.join(", ")),
      count(line.calls),
      line.bytes ? size(line.bytes) : "-",
      bar(UNITS.map((unit) => [line[unit + "_ns"], unit]).concat([[line.wait_ns, "wait"]]), longest),
      time(lineTime(line) - line.wait_ns),
      line.wait_ns ? time(line.wait_ns) : "-",
    ]),
  );
  const directions = Object.keys(launch.directions);
  table(
    "cores",
    ["core", "tasks", "busy<", "compute", "io", "move", "scalar", "waits", "ends", ...directions.map(breakable)],
    launch.cores.map((core) => [
      coreName(core),
      count(core.runs),
      bar(UNITS.map((unit) => [core.busy_ns[unit], unit]), busiest),
      ...["compute", "io", "move", "scalar"].map((unit) => spent(core.busy_ns[unit])),
      spent(core.sync_wait_ns + core.barrier_wait_ns),
      time(core.end_ns),
      ...directions.map((name) => (core.directions[name] ? size(core.directions[name].bytes) : "-")),
    ]),
  );
  table(
    "figures",
    ["figure", "value", "from"],
    Object.entries(launch.estimate.figures).map(([name, value]) => [name, String(value), launch.estimate.sources[name]]),
  );
}

const breakable = (direction) => direction.replace(/2/, "\u200b2\u200b");
const spent = (ns) => (ns ? time(ns) : "-");
const lineTime = (line) => UNITS.reduce((sum, unit) => sum + line[unit + "_ns"], line.wait_ns);
const coreName = (core) => `cluster ${core.cluster} ` + (core.core === 128 ? "memory core" : `core ${core.core}`);

function showLoads(launch) {
  const kinds = ["io", "compute", "move", "scalar"];
  $("loads").replaceChildren();
  Object.entries(launch.loads).forEach(([name, share], i) => row($("loads"), name, share, percent(share), kinds[i]));
}

function showMemory(launch) {
  const target = $("memory");
  target.replaceChildren();
  let any = false;
  for (const [space, declared] of Object.entries(launch.memory.declared)) {
    if (!declared) continue;
    any = true;
    const used = launch.memory.used[space];
    target.append(element("div", {}, `${space}: ${size(declared)} declared, ${size(used)} touched`));
    for (const card of DATA.cards) {
      const there = 1024 * card[space.toLowerCase() + "_kib"];
      const share = declared / there;
      row(target, card.name, share, share > 1 ? "does not fit" : `${percent(share)} of ${size(there)}`, "compute", share > 1);
    }
  }
  if (!any) target.append("The kernel declares no arrays in NRAM, WRAM or SRAM.");
}

// ---- Roofline -----------------------------------------------------------------------------------------------------------

function svg(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function showRoofline(launch) {
  const { bandwidth, peak, counted, theory } = launch.roofline;
  const points = [
    ["counted", counted],
    ["theory", theory],
  ]
    .filter(([, [operations, bytes]]) => operations > 0 && bytes > 0)
    .map(([name, [operations, bytes, ns]]) => ({ name, x: operations / bytes, y: operations / ns }));
  if (points.length === 2 && Math.abs(points[0].x / points[1].x - 1) < 0.02) points.splice(0, 2, { ...points[0], name: "counted, as in theory" });
  const ridge = peak / bandwidth;
  const xs = points.map((point) => point.x).concat([ridge]);
  const ys = points.map((point) => point.y).concat([peak]);
  const low = Math.floor(Math.log10(Math.min(...xs))) - 1;
  const high = Math.ceil(Math.log10(Math.max(...xs))) + 1;
  const top = Math.ceil(Math.log10(Math.max(...ys)) + 0.3);
  const bottom = Math.min(Math.floor(Math.log10(Math.min(...ys))), top - 3);
  const [width, height, left, right, above, below] = [560, 330, 64, 16, 14, 44];
  const px = (x) => left + ((Math.log10(x) - low) / (high - low)) * (width - left - right);
  const py = (y) => height - below - ((Math.log10(y) - bottom) / (top - bottom)) * (height - above - below);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (let x = low; x <= high; ++x) {
    picture.append(svg("line", { class: "grid", x1: px(10 ** x), x2: px(10 ** x), y1: above, y2: height - below }));
    picture.append(svg("text", { x: px(10 ** x), y: height - below + 15, "text-anchor": "middle" }, power(x)));
  }
  for (let y = bottom; y <= top; ++y) {
    picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: py(10 ** y), y2: py(10 ** y) }));
    picture.append(svg("text", { x: left - 6, y: py(10 ** y) + 4, "text-anchor": "end" }, power(y)));
  }
  const start = Math.max(low, bottom - Math.log10(bandwidth));
  const path = [
    [10 ** start, 10 ** start * bandwidth],
    [ridge, peak],
    [10 ** high, peak],
  ].map(([x, y]) => `${px(x)},${py(y)}`);
  picture.append(svg("polyline", { class: "roof", points: path.join(" ") }));
  const flat = { x: width - right - 4, y: py(peak) - 6, "text-anchor": "end", class: "label" };
  picture.append(svg("text", flat, `${peak.toFixed(0)} Gop/s of the ${launch.roofline.units}`));
  // Above the roof, where no point can be; those of points stand below them.
  const near = 10 ** (0.3 * start + 0.7 * Math.log10(ridge));
  const slope = { x: px(near) - 10, y: py(near * bandwidth), "text-anchor": "end", class: "label" };
  picture.append(svg("text", slope, `${bandwidth} GB/s`));
  points.forEach((point, i) => {
    const kind = i === 0 ? "mark" : "move";
    picture.append(svg("circle", { cx: px(point.x), cy: py(point.y), r: 5.5, style: `fill:var(--${kind})` }));
    const x = Math.min(Math.max(px(point.x), left + 80), width - right - 80);
    const place = { x, y: py(point.y) + 20 + 16 * i, "text-anchor": "middle", class: "label" };
    picture.append(svg("text", place, `${point.name}: ${point.y.toPrecision(3)} Gop/s`));
  });
  const across = { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" };
  picture.append(svg("text", across, "operations for each byte of device memory"));
  const up = { x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${(height - below) / 2}) rotate(-90)` };
  picture.append(svg("text", up, "operations in the estimated time, Gop/s"));
  $("roofline").replaceChildren(picture);
  if (!points.length) $("roofline").append("The launch computed nothing on the compute unit.");
}

const power = (exponent) => (exponent >= -2 && exponent <= 4 ? String(+(10 ** exponent).toFixed(2)) : "1e" + exponent);

// ---- Timeline -----------------------------------------------------------------------------------------------------------

const LABEL = 64; // pixels to the left of the lanes
const view = { launch: null, begin: 0, end: 1, lanes: [], rows: [] };

function prepareTimeline(launch) {
  view.launch = launch;
  view.begin = 0;
  view.end = Math.max(launch.estimate.ns, 1e-6);
  const place = new Map(launch.all_cores.map(([core], i) => [core, i]));
  view.rows = launch.all_cores.map(([, name]) => name);
  view.lanes = launch.all_cores.map(() => UNITS.map(() => []));
  // Memory cores that only passed through the kernel have no lanes.
  const shown = launch.events.filter((event) => place.has(event[2]));
  for (const event of shown) view.lanes[place.get(event[2])][launch.sites[event[3]][3]].push(event);
  const few = view.rows.length <= 8;
  view.lane = few ? 11 : view.rows.length <= 20 ? 6 : 4;
  view.row = view.lane * UNITS.length + (few ? 8 : 5);
  draw();
}

function fit(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width];
}

// The first event of a lane that ends after `time`: events of a lane follow one another.
function firstAfter(lane, time) {
  let low = 0;
  let high = lane.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane[middle][1] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function draw() {
  const launch = view.launch;
  const [context, width] = fit($("timeline"), Math.max(view.rows.length * view.row, 24));
  const scale = (width - LABEL) / (view.end - view.begin);
  const colors = UNITS.map(color);
  const [lane, text, wait] = [color("lane"), color("text"), color("wait")];
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  view.rows.forEach((name, i) => {
    const top = i * view.row + 2;
    context.fillStyle = text;
    context.fillText(name, 8, top + (view.lane * UNITS.length) / 2);
    UNITS.forEach((unit, k) => {
      const y = top + k * view.lane;
      context.fillStyle = lane;
      context.fillRect(LABEL, y, width - LABEL, view.lane - 1);
      const events = view.lanes[i][k];
      for (let n = firstAfter(events, view.begin); n < events.length && events[n][0] < view.end; ++n) {
        const x = Math.max((events[n][0] - view.begin) * scale, 0);
        const end = Math.min((events[n][1] - view.begin) * scale, width - LABEL);
        context.fillStyle = launch.sites[events[n][3]][4] ? wait : colors[k];
        const wide = end - x > 3;  // neighbours are told apart
        context.fillRect(LABEL + x, y, Math.max(end - x - (wide ? 0.7 : 0), 0.6), view.lane - 1);
      }
    });
  });
  drawAxis();
}

function drawAxis() {
  const [context, width] = fit($("axis"), 22);
  const span = view.end - view.begin;
  const rough = span / Math.max(2, Math.floor((width - LABEL) / 110));
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * base).find((size) => size >= rough);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (let at = Math.ceil(view.begin / step) * step; at <= view.end; at += step) {
    const x = LABEL + ((at - view.begin) / span) * (width - LABEL);
    context.fillStyle = color("line");
    context.fillRect(x, 0, 1, 22);
    context.fillStyle = color("faint");
    if (x < width - 50) context.fillText(time(at), x + 4, 12);
  }
}

function eventAt(pointer) {
  const box = $("timeline").getBoundingClientRect();
  const x = pointer.clientX - box.left - LABEL;
  const y = pointer.clientY - box.top - 2;
  const i = Math.floor(y / view.row);
  const k = Math.floor((y - i * view.row) / view.lane);
  if (x < 0 || i < 0 || i >= view.rows.length || k < 0 || k >= UNITS.length) return null;
  const scale = (view.end - view.begin) / (box.width - LABEL);
  const at = view.begin + x * scale;
  const lane = view.lanes[i][k];
  const event = lane[firstAfter(lane, at - 2 * scale)];
  return event && event[0] <= at + 2 * scale ? { event, name: view.rows[i], unit: UNITS[k] } : null;
}

function showTip(pointer) {
  const tip = $("tip");
  const found = eventAt(pointer);
  tip.style.display = found ? "block" : "none";
  if (!found) return;
  const [begin, end, , number, bytes, merged] = found.event;
  const site = view.launch.sites[number];
  const lines = [`${site[0]} ${site[1]}`.trim() + (merged > 1 ? ` and ${count(merged - 1)} more` : "")];
  lines.push(`${time(end - begin)} from ${time(begin)} on, core ${found.name} ${found.unit}`);
  if (bytes) lines.push(size(bytes));
  if (site[2]) lines.push(site[2]);
  tip.textContent = lines.join("\n");
  tip.style.left = Math.min(pointer.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(pointer.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
}

function listen() {
  const canvas = $("timeline");
  let held = null;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left - LABEL) / (box.width - LABEL), 0), 1);
    const whole = Math.max(view.launch.estimate.ns, 1e-6);
    const span = Math.min(Math.max((view.end - view.begin) * 1.25 ** Math.sign(event.deltaY), 1), whole);
    const at = view.begin + share * (view.end - view.begin);
    move(at - share * span, span);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, begin: view.begin };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => (held = null));
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return showTip(event);
    const span = view.end - view.begin;
    move(held.begin - ((event.clientX - held.x) / (canvas.clientWidth - LABEL)) * span, span);
  });
  canvas.addEventListener("pointerleave", () => ($("tip").style.display = "none"));
  canvas.addEventListener("dblclick", () => move(0, view.launch.estimate.ns));
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

function move(begin, span) {
  const whole = Math.max(view.launch.estimate.ns, 1e-6);
  view.begin = Math.min(Math.max(begin, 0), Math.max(whole - span, 0));
  view.end = view.begin + Math.max(span, 1e-6);
  requestAnimationFrame(draw);
}

// ---- The page -----------------------------------------------------------------------------------------------------------

function show(launch) {
  showNumbers(launch);
  showTables(launch);
  showLoads(launch);
  showMemory(launch);
  showRoofline(launch);
  prepareTimeline(launch);
}

function begin() {
  const words = { scalar: "scalar unit", compute: "compute", io: "copies off chip", move: "copies on chip", wait: "waiting" };
  for (const [name, text] of Object.entries(words)) {
    $("legend").append(element("span", {}, element("i", { style: `background:var(--${name})` }), text));
  }
  const choose = $("launch");
  DATA.launches.forEach((launch, i) =>
    choose.append(element("option", { value: i }, `${i + 1}: ${launch.kernel}, ${time(launch.estimate.ns)}`)));
  choose.addEventListener("change", () => show(DATA.launches[choose.value]));
  if (DATA.launches.length < 2) $("choose").hidden = true;
  if (!DATA.launches.length) {
    $("kernel").textContent = "No launches";
    document.querySelector("main").hidden = true;
    return;
  }
  listen();
  show(DATA.launches[0]);
}

begin();
