/** The pages of the documents of a database, and what they are read and written by. */
export { default as docs } from '../pages/docs.js';
export { default as doc } from '../pages/doc.js';
export { default as compare } from '../pages/compare.js';
export { default as query } from '../pages/query.js';
export { default as view } from '../pages/view.js';
export { default as changes } from '../pages/changes.js';
export { default as files } from '../pages/files.js';
export { default as design } from '../pages/design.js';
export { default as journal } from '../pages/journal.js';
