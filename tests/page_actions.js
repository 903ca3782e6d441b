// Acts like a reader of the page of `punc report`, and stores in `seen` what the page then shows.
// test_page_in_browser.py adds this script to the end of the page, because it uses functions of the page.
const pick = (name, value) => {
  fields[name].value = value;
  fields[name].dispatchEvent(new Event(name === "search" ? "input" : "change"));
};
const press = (key, on = document.body) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const at = () => slots.indexOf(current), found = () => $("#hits").textContent;
const labels = (slot, system) => [labelAt(slot.passage.ref, slot.at), read(slot.passage, slot.at, system).label];
const wrongOf = (slot, system) => labels(slot, system)[0] !== labels(slot, system)[1];
const count = (wanted) => slots.filter((slot) => {
  const { label, post } = read(slot.passage, slot.at, Number(fields.a.value));
  return wanted(labelAt(slot.passage.ref, slot.at), label, post, slot);
}).length;

pick("set", "test_ref");
seen.slots = slots.length;
seen.hostile = $$(".w").map((one) => one.firstChild.textContent)[3];
press("n");
seen.first = [at(), slots.findIndex((slot) => wrongOf(slot, 0))];

const kinds = { error: (r, h) => r !== h, insertion: (r, h) => !r && h, deletion: (r, h) => r && !h,
  substitution: (r, h) => r && h && r !== h, right: (r, h) => r && r === h };
seen.kinds = {};
for (const [name, wanted] of Object.entries(kinds)) {
  pick("kind", name);
  seen.kinds[name] = [found(), count(wanted), $$(".columns > p:nth-child(2) .hit").length];
}

pick("kind", "error");
press("n");
press("n");
press("p");
seen.walk = [at(), slots.indexOf(hits[0])];
press("p");
seen.around = [at(), slots.indexOf(hits.at(-1))];
seen.marked = $$(".current").length;
seen.inView = $(".current").getBoundingClientRect().top < innerHeight;
seen.detail = $("#detail").textContent;
press("Escape");
seen.closed = $("#detail").hidden;

pick("b", "1");
pick("kind", "any");
pick("pair", "bright");
seen.pair = [found(), count((r, h, post, slot) => wrongOf(slot, 0) && !wrongOf(slot, 1))];
seen.columns = $$(".passage")[0].querySelectorAll(".columns > p").length;
pick("pair", "any");
pick("label", "2");
seen.label = [found(), count((r, h) => r === 2 || h === 2)];
pick("label", "");
pick("a", "1");
pick("sure", "middle");
seen.sure = [found(), count((r, h, post) => post >= 0.5 && post < 0.9)];
pick("sure", "any");
pick("recording", "rec01");
seen.recording = [found(), $$(".passage:not([hidden])").length, $$(".passage").length];
pick("recording", "");
pick("search", "<SCRIPT");
seen.search = found();
pick("search", "");
press("/");
seen.focus = document.activeElement === fields.search;
press("n", fields.search);
seen.typed = at();

pick("set", "test_asr");
seen.spoken = $(".spoken").textContent;
seen.wrong = $$(".columns > p:first-child .wrong").length;
location.hash = "#errors?set=test_ref&recording=rec02&a=B&kind=error";
await new Promise((done) => setTimeout(done, 50));
seen.link = [fields.set.value, fields.a.selectedOptions[0].text, fields.recording.value, fields.kind.value];

const table = $("table.sortable"), header = table.tHead.rows[0].cells[1];
const column = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[1].dataset.value));
header.querySelector("button").click();
seen.sorted = [column(), header.ariaSort];
header.querySelector("button").click();
seen.sorted.push(column());
