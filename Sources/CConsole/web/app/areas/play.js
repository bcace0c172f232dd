/** The demonstration. */
export { default as play } from '../pages/play.js';
