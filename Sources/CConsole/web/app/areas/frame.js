/** What the frame shows when somebody asks for it. */
export { commandPanel } from '../parts/command-panel.js';
export { chooseDatabase } from '../parts/database-switch.js';
export { openPalette } from '../parts/palette.js';
export { placeSheet } from '../parts/place-sheet.js';
