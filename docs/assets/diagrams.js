// Draws the page's Mermaid diagrams with the copy of Mermaid beside this file, which `make site` puts there.
const diagrams = document.querySelectorAll("pre.diagram");
const folder = document.currentScript.src.replace(/[^/]*$/, "");

if (diagrams.length) {
  const script = document.createElement("script");
  script.src = folder + "mermaid.min.js";
  script.onload = () => {
    const dark = document.body.dataset.mdColorScheme === "slate";
    mermaid.initialize({ startOnLoad: false, theme: dark ? "dark" : "neutral" });
    mermaid.run({ nodes: diagrams });
  };
  document.head.append(script);
}
