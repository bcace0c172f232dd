/** Files beside the modules: drawings, and style sheets of parts. */

/** The address of a file of the console's folder. A bundle of modules stands beside this one, so it is the same there. */
export const asset = name => new URL(`../${name}`, import.meta.url).href;
