// Draws the page's Mermaid diagrams with the copy of Mermaid beside this file, which `make site` puts there.
const sources = document.querySelectorAll("pre.diagram > code");
const folder = document.currentScript.src.replace(/[^/]*$/, "");

if (sources.length) {
  const script = document.createElement("script");
  script.src = folder + "mermaid.min.js";
  script.onload = () => {
    const dark = document.body.dataset.mdColorScheme === "slate";
    mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "neutral" });
    const diagrams = Array.from(sources, (source) => {
      const diagram = document.createElement("div");
      diagram.textContent = source.textContent;
      source.parentElement.replaceWith(diagram); // the theme adds a button to each pre
      return diagram;
    });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
}
