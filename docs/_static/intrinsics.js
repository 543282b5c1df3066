// A box above the reference of the intrinsics that shows only the rows with the words in it.
document.addEventListener("DOMContentLoaded", () => {
  if (!/simulator-intrinsics(\.html)?$/.test(location.pathname)) return;
  const rows = [...document.querySelectorAll("article table tbody tr")];
  const article = document.querySelector("article");
  if (!rows.length || !article) return;

  // Braces stand for alternatives: __bang_{add,sub} is found by __bang_sub.
  const spelled = (text) => {
    const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(text);
    return found ? found[2].split(",").flatMap((part) => spelled(found[1] + part + found[3])) : [text];
  };
  const texts = rows.map((row) => {
    const names = [...row.querySelectorAll("td:first-child code")].flatMap((code) => spelled(code.textContent));
    return [...names, row.textContent].join(" ").toLowerCase();
  });

  const box = document.createElement("input");
  box.type = "search";
  box.className = "filter";
  box.placeholder = "Search intrinsics: a name, what it does, an architecture";
  box.setAttribute("aria-label", box.placeholder);
  const count = document.createElement("p");
  count.className = "filter-count";
  count.setAttribute("role", "status");
  const heading = article.querySelector("h1");
  heading.after(box, count);

  const update = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    for (const section of document.querySelectorAll("article section section")) {
      const own = [...section.querySelectorAll("tbody tr")];
      section.hidden = words.length > 0 && (own.length === 0 || own.every((row) => row.hidden));
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  };
  box.addEventListener("input", update);
  const asked = new URLSearchParams(location.search).get("find");
  if (asked) {
    box.value = asked;
    update();
  }
});
