"use strict";
// Sorts tables by a column, and shows the text of a set with its errors: filters, keys, links. The page's data is in
// the element #data; `encode` in punc/results/page.py describes the strings in it.

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// --- Tables ---------------------------------------------------------------------------------------------------------

function valueOf(cell) {
  const number = parseFloat(cell.dataset.value ?? cell.textContent);
  return cell.tagName === "TH" || Number.isNaN(number) ? null : number;
}

function sortBy(table, column, header) {
  const ascending = header.getAttribute("aria-sort") === "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const direction = ascending ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) =>
    [row, valueOf(row.cells[column]), row.cells[column].textContent]);
  rows.sort(([, a, aText], [, b, bText]) => {
    if (a === null && b === null) return direction * aText.localeCompare(bText);
    if (a === null || b === null) return a === null ? 1 : -1;  // undefined figures last
    return direction * (a - b);
  });
  table.tBodies[0].append(...rows.map(([row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = element("button", { type: "button" }, ...header.childNodes);
    button.addEventListener("click", () => sortBy(table, column, header));
    header.append(button);
  });
}

// --- The error browser ----------------------------------------------------------------------------------------------

const KINDS = { any: "any slot", error: "all errors", insertion: "insertions", deletion: "deletions",
  substitution: "substitutions", right: "right marks" };
const PAIRS = { any: "any", aright: "A right, B wrong", bright: "A wrong, B right", both: "both wrong",
  differ: "they differ" };
const SURE = { any: "any", low: "below 0.5", middle: "0.5 to 0.89", high: "0.9 and above", unknown: "not known" };
const fields = {};
let set, slots, hits, current;  // the shown set, its slots in text order, those that match the filter, the chosen one

const digits = (text, at) => text.slice(2 * at, 2 * at + 2);
const labelAt = (text, at) => text.charCodeAt(at) - 48;

function kind(reference, hypothesis) {
  if (reference === hypothesis) return reference ? "right" : "none";
  return !reference ? "insertion" : !hypothesis ? "deletion" : "substitution";
}

function read(passage, at, system) {
  const post = digits(passage.post[system], at);
  return { label: labelAt(passage.hyp[system], at), post: post === "" ? null : Number(post) / 100 };
}

function pauseOf(passage, at) {
  const text = digits(passage.pause, at);
  return text === "--" ? null : parseInt(text, 36) / 100;
}

const markOf = (label) => set.labels[label].mark || set.labels[label].name;

function chip(reference, label) {
  const how = kind(reference, label);
  if (how === "none") return null;
  const text = { right: markOf(label), insertion: `+${markOf(label)}`, deletion: `−${markOf(reference)}`,
    substitution: `${markOf(reference)}→${markOf(label)}` }[how];
  return element("span", { className: `mark ${how}` }, text);
}

function wordSpan(passage, words, at) {
  const span = element("span", { className: "w" }, words[at]);
  if (passage.wrong && at in passage.wrong) span.classList.add("wrong");
  return span;
}

// Returns a column with the words of a passage and the marks of a system, or of the reference if `system` is null.
function column(passage, name, system, slotsHere) {
  const words = passage.words.split(" ");
  const text = element("p", {}, element("span", { className: "who" }, name));
  words.forEach((_, at) => {
    const reference = labelAt(passage.ref, at);
    const span = wordSpan(passage, words, at);
    span.slot = slotsHere[at];
    const mark = system === null ? (reference ? element("span", { className: "mark" }, markOf(reference)) : null)
      : chip(reference, read(passage, at, system).label);
    if (mark) span.append(mark);
    slotsHere[at].spans.push(span);
    text.append(span);
    if (system === null && passage.wrong) {
      const spoken = [passage.wrong[at], passage.missing[at]].filter(Boolean).join(" ");
      if (spoken || at in passage.wrong) {
        text.append(element("span", { className: "spoken" }, ` [${spoken || "nothing"}]`));
      }
    }
    text.append(" ");
  });
  return text;
}

function show() {
  const [a, b] = [Number(fields.a.value), Number(fields.b.value)];
  slots = [];
  const shown = set.passages.map((passage) => {
    const here = Array.from(passage.ref, (_, at) => ({ passage, at, spans: [] }));
    slots.push(...here);
    const columns = [column(passage, "reference", null, here), column(passage, `A: ${set.systems[a]}`, a, here)];
    if (b >= 0) columns.push(column(passage, `B: ${set.systems[b]}`, b, here));
    passage.box = element("div", { className: "passage" },
      element("h3", {}, `${passage.stream}, from slot ${passage.at}`),
      element("div", { className: "columns" }, ...columns));
    return passage.box;
  });
  document.getElementById("text").replaceChildren(...shown);
  filter();
}

const searched = (passage) => {
  // Returns the slots of all words in which the searched text occurs.
  const wanted = fields.search.value.trim().toLowerCase();
  if (!wanted) return null;
  const found = new Set(), text = passage.words.toLowerCase();
  for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + 1)) {
    const first = text.slice(0, from).split(" ").length - 1, count = wanted.split(" ").length;
    for (let i = 0; i < count; i++) found.add(first + i);
  }
  return found;
};

function matches(slot, found) {
  const { passage, at } = slot, reference = labelAt(passage.ref, at);
  const one = read(passage, at, Number(fields.a.value)), how = kind(reference, one.label);
  if (fields.recording.value && passage.stream !== fields.recording.value) return false;
  if (found && !found.has(at)) return false;
  const wanted = fields.kind.value;
  if (wanted === "error" ? how === "none" || how === "right" : wanted !== "any" && wanted !== how) return false;
  const label = fields.label.value;
  if (label !== "" && reference !== Number(label) && one.label !== Number(label)) return false;
  const sure = one.post === null ? "unknown" : one.post < 0.5 ? "low" : one.post < 0.9 ? "middle" : "high";
  if (fields.sure.value !== "any" && sure !== fields.sure.value) return false;
  if (Number(fields.b.value) < 0 || fields.pair.value === "any") return true;
  const other = read(passage, at, Number(fields.b.value)).label;
  const [aRight, bRight] = [one.label === reference, other === reference];
  return { aright: aRight && !bRight, bright: !aRight && bRight, both: !aRight && !bRight,
    differ: one.label !== other }[fields.pair.value];
}

function isFiltered() {
  return ["kind", "pair", "sure"].some((name) => fields[name].value !== "any") || fields.label.value !== "" ||
    fields.recording.value !== "" || fields.search.value.trim() !== "";
}

function filter() {
  const filtered = isFiltered(), only = fields.only.checked;
  const found = new Map(set.passages.map((passage) => [passage, searched(passage)]));
  const withHit = new Set();
  hits = slots.filter((slot) => {
    const hit = filtered && matches(slot, found.get(slot.passage));
    for (const span of slot.spans) span.classList.toggle("hit", hit);
    if (hit) withHit.add(slot.passage);
    return hit;
  });
  for (const passage of set.passages) passage.box.hidden = filtered && only && !withHit.has(passage);
  document.getElementById("hits").textContent =
    filtered ? `${hits.length.toLocaleString("en")} slots found.` : `${slots.length.toLocaleString("en")} slots.`;
  go(null);
}

function go(slot, scroll = true) {
  for (const span of current ? current.spans : []) span.classList.remove("current");
  current = slot;
  const detail = document.getElementById("detail");
  detail.hidden = !slot;
  if (!slot) return;
  for (const span of slot.spans) span.classList.add("current");
  if (scroll) slot.spans[0].scrollIntoView({ block: "center" });
  const { passage, at } = slot, words = passage.words.split(" "), pause = pauseOf(passage, at);
  const reference = labelAt(passage.ref, at);
  const lines = set.systems.map((name, system) => {
    const { label, post } = read(passage, at, system);
    const how = kind(reference, label);
    return `${name}: ${set.labels[label].name}${post === null ? "" : ` (posterior ${post.toFixed(2)})`}` +
      (how === "none" || how === "right" ? "" : `, ${how}`);
  });
  const spoken = passage.wrong && at in passage.wrong ? `; spoken: ${passage.wrong[at] || "nothing"}` : "";
  detail.replaceChildren(
    element("p", {}, element("strong", {}, `${words.slice(Math.max(0, at - 3), at + 1).join(" ")} _ ` +
      words.slice(at + 1, at + 4).join(" ")), `  ${passage.stream}, slot ${passage.at + at}`),
    element("p", {}, `reference: ${set.labels[reference].name}; pause: ` +
      (pause === null ? "not known" : `${pause.toFixed(2)} s`) + spoken + 
      (hits.includes(slot) ? `; ${hits.indexOf(slot) + 1} of ${hits.length} found` : "")),
    element("p", {}, lines.join(" · ")));
}

// Goes to the next or previous slot that matches the filter; without a filter, to the next or previous error of A.
function step(direction) {
  const a = Number(fields.a.value);
  const candidates = isFiltered() ? hits : slots.filter(({ passage, at }) =>
    labelAt(passage.ref, at) !== read(passage, at, a).label);
  if (!candidates.length) return;
  const order = new Map(slots.map((slot, i) => [slot, i]));
  const here = current ? order.get(current) : direction > 0 ? -1 : slots.length;
  const next = direction > 0 ? candidates.find((slot) => order.get(slot) > here)
    : candidates.findLast((slot) => order.get(slot) < here);
  go(next ?? candidates.at(direction > 0 ? 0 : -1));
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
}

function chooseSet(name) {
  set = data.sets.find((one) => one.name === name) ?? data.sets[0];
  fields.set.value = set.name;
  current = null;
  const systems = set.systems.map((system, i) => [i, system]);
  options(fields.a, systems);
  options(fields.b, [[-1, "none"], ...systems]);
  options(fields.label, [["", "any"], ...set.labels.map((label, i) => [i, label.name])]);
  options(fields.recording, [["", "all"], ...new Set(set.passages.map((one) => one.stream))].map((one) =>
    Array.isArray(one) ? one : [one, one]));
  document.getElementById("sample").textContent = set.note;
  show();
}

// Opens the view that a link names: #errors?set=…&recording=…&a=…&b=…&kind=…&pair=…&label=…&sure=…&search=…
function follow() {
  if (!location.hash.startsWith("#errors?")) return;
  const asked = new URLSearchParams(location.hash.slice(8));
  for (const name of ["kind", "pair", "sure"]) fields[name].value = asked.get(name) ?? "any";
  fields.search.value = asked.get("search") ?? "";
  chooseSet(asked.get("set"));
  for (const name of ["a", "b"]) if (asked.has(name)) fields[name].value = set.systems.indexOf(asked.get(name));
  if (asked.has("label")) fields.label.value = set.labels.findIndex((label) => label.name === asked.get("label"));
  if (asked.has("recording")) fields.recording.value = asked.get("recording");
  for (const name of ["kind", "pair", "sure", "a", "b", "label", "recording"]) {
    if (fields[name].selectedIndex < 0) fields[name].selectedIndex = 0;
  }
  show();
  document.getElementById("browser").scrollIntoView();
}

function field(name, text, input, event, changed) {
  fields[name] = input;
  input.addEventListener(event, changed);
  return element("label", { className: input.type === "checkbox" ? "check" : "" }, text, input);
}

function select(name, text, entries, changed) {
  const made = element("select");
  options(made, Object.entries(entries));
  return field(name, text, made, "change", changed);
}

function build() {
  const form = element("form", {},
    select("set", "set", Object.fromEntries(data.sets.map((one) => [one.name, one.name])),
      () => chooseSet(fields.set.value)),
    select("a", "system A", {}, show), select("b", "system B", {}, show), select("pair", "A and B", PAIRS, filter),
    select("kind", "errors of A", KINDS, filter), select("label", "label", {}, filter),
    select("sure", "posterior of A's label", SURE, filter), select("recording", "recording or speaker", {}, filter),
    field("search", "words", element("input", { type: "search" }), "input", filter),
    field("only", "only passages with a hit", element("input", { type: "checkbox", checked: true }), "change", filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  const key = (name) => element("kbd", {}, name);
  const legend = element("ul", { className: "legend" }, ...[["right", ",", "right"], ["insertion", "+,", "insertion"],
    ["deletion", "−,", "deletion"], ["substitution", ".→,", "substitution"]].map(([how, text, name]) =>
    element("li", {}, element("span", { className: `mark ${how}` }, text), ` ${name}`)),
    element("li", {}, element("span", { className: "wrong" }, "word"),
      element("span", { className: "spoken" }, " [spoken]"), " recognition error"));
  const root = document.getElementById("errors");
  root.append(element("p", { id: "sample" }), form, legend,
    element("p", {}, element("span", { id: "hits", role: "status" }), " ", key("n"), " next, ", key("p"), " previous, ",
      key("/"), " search, ", key("Esc"), " close. A click on a word shows its slot."),
    element("div", { id: "text" }), element("div", { id: "detail", role: "status", hidden: true }));
  root.hidden = false;
  document.getElementById("text").addEventListener("click", (event) => {
    const span = event.target.closest(".w");
    if (span) go(span.slot, false);
  });
}

function pressed(event) {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") {
    go(null);
    if (typing) event.target.blur();
  } else if (!typing && (event.key === "n" || event.key === "j")) step(1);
  else if (!typing && (event.key === "p" || event.key === "k")) step(-1);
  else if (!typing && event.key === "/") {
    event.preventDefault();
    fields.search.focus();
  }
}

const holder = document.getElementById("data");
const data = holder ? JSON.parse(holder.textContent) : { sets: [] };
if (data.sets.length) {
  build();
  chooseSet(data.sets[0].name);
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", follow);
  follow();
}
