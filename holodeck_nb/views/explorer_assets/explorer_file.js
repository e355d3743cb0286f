// The explorer in a file: its source reads what is packed into the page.

function fileSource(index) {
  const unpacked = new Map();
  let latest = null;

  async function unpack(name) {
    if (!unpacked.has(name)) {
      const packed = document.getElementById(`hn-${name}`).textContent;
      const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(name, new Response(stream).json());
    }
    return unpacked.get(name);
  }

  async function matches(wanted) {
    const key = JSON.stringify(wanted);
    if (latest && latest.key === key) return latest;
    const text = wanted.text.trim().toLowerCase();
    const texts = text ? await unpack("texts") : null;
    const metric = index.metrics.indexOf(wanted.metric), reason = index.reasons.indexOf(wanted.reason);
    const lines = index.cases.filter((row, place) =>
      (!wanted.status || (wanted.status === index.notPassed ? row.status !== "passed" : row.status === wanted.status)) &&
      (!wanted.metric || row.metrics.includes(metric)) &&
      (!wanted.reason || row.reasons.includes(reason)) &&
      (!text || texts[place].includes(text)));
    const failures = lines.flatMap((row, line) => row.failing.map((turn) => ({ place: row.place, turn, line })));
    latest = { key, lines, failures };
    return latest;
  }

  const before = (a, b) => a.place - b.place || a.turn - b.turn;
  return {
    async rows(wanted, from, most) {
      const { lines, failures } = await matches(wanted);
      return { total: lines.length, failures: failures.length, from, rows: lines.slice(from, from + most) };
    },
    async conversation(place) {
      const chunk = await unpack(Math.floor(place / index.chunk));
      return chunk[place % index.chunk];
    },
    async step(wanted, place, turn, by) {
      const { lines, failures } = await matches(wanted);
      const here = { place, turn: turn === null ? -1 : turn };
      if (by === 0) {
        const number = failures.findIndex((failure) => before(failure, here) === 0);
        return { place, turn, line: lines.findIndex((row) => row.place === place), number: number + 1 };
      }
      const number = by > 0 ? failures.findIndex((failure) => before(failure, here) > 0)
        : failures.findLastIndex((failure) => before(failure, here) < 0);
      return number < 0 ? null : { ...failures[number], number: number + 1 };
    },
    chosen() {},
  };
}

async function holodeckFile() {
  const index = JSON.parse(document.getElementById("hn-index").textContent);
  index.cases.forEach((row, place) => Object.assign(row, { place, mark: index.marks[row.status] }));
  const source = fileSource(index);
  const none = { status: "", text: "", metric: "", reason: "" };
  const start = {
    choices: index.choices, wanted: none, total: index.cases.length, at: index.at,
    rows: await source.rows(none, 0, 100), html: index.at ? await source.conversation(index.at.place) : "",
  };
  const root = document.getElementById("explorer");
  holodeckExplorer(root, { ...source, chosen: (place) => root.classList.toggle("elsewhere", place !== (index.at || {}).place) }, start);
  document.documentElement.classList.add("live");
  // What is folded is not printed.
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")].filter((node) => !node.matches(".passed"));
    folded.forEach((node) => { node.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((node) => { node.open = false; }));
}

holodeckFile();
