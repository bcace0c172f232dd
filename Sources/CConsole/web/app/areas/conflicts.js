/** The pages of conflicts. */
export { default as conflicts } from '../pages/conflicts.js';
export { default as conflict } from '../pages/conflict.js';
export { default as settle } from '../pages/settle.js';
