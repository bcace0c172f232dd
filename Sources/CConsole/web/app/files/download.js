/** Hands text to the browser as a file of a name, which it stores where it stores downloads. */
export function download(name, type, parts) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
