/** The pages of a first visit, which the frame has inside. */
export { default as databases } from '../pages/databases.js';
export { default as login } from '../pages/login.js';
export { default as missing } from '../pages/missing.js';
