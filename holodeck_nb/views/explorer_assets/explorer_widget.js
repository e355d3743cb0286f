// The explorer in a notebook: its source asks the kernel.

function kernelSource(model) {
  const open = new Map();
  let last = 0;
  const ask = (question) => new Promise((resolve) => {
    last += 1;
    // Several views share one model: the number alone would let one take the other's answer.
    const id = `${source.name}-${last}`;
    open.set(id, resolve);
    model.send({ ...question, id });
  });
  const heard = (message) => {
    const resolve = message && open.get(message.id);
    if (!resolve) return;
    open.delete(message.id);
    resolve(message.answer);
  };
  model.on("msg:custom", heard);
  const source = {
    name: Math.random().toString(36).slice(2),
    rows: (wanted, from, most) => ask({ ask: "rows", wanted, from, most }),
    conversation: (place) => ask({ ask: "conversation", place }),
    step: (wanted, place, turn, by) => ask({ ask: "step", wanted, place, turn, by }),
    chosen: (place, turn) => {
      const now = model.get("_chosen");
      if (now.place === place && now.turn === turn) return;
      model.set("_chosen", { place, turn });
      model.save_changes();
    },
    end: () => model.off("msg:custom", heard),
  };
  return source;
}

function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  const source = kernelSource(model);
  // The page of failures that stands in for the explorer where no kernel runs.
  const hidden = document.createElement("style");
  hidden.textContent = `.hn-static[data-of="${model.get("_start").id}"]{display:none}`;
  document.head.append(hidden);
  const explorer = holodeckExplorer(root, source, model.get("_start"));
  const follow = () => {
    const { place, turn } = model.get("_chosen");
    if (place >= 0) explorer.go(place, turn);
  };
  model.on("change:_chosen", follow);
  follow();
  return () => {
    model.off("change:_chosen", follow);
    source.end();
    explorer.end();
    hidden.remove();
  };
}

export default { render };
