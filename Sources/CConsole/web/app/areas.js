/** Which area has which page. The pages of an area are one file when the server delivers them, and are loaded at the first of them. */
import databases from './pages/databases.js';
import login from './pages/login.js';
import missing from './pages/missing.js';

/** The pages of a first visit, which come with the frame. */
const first = { databases, login, missing };

const server = () => import('./areas/server.js');
const AREAS = [
  { load: () => import('./areas/documents.js'), pages: ['docs', 'doc', 'compare', 'query', 'view', 'changes', 'files', 'design', 'journal'] },
  { load: () => import('./areas/conflicts.js'), pages: ['conflicts', 'conflict', 'settle'] },
  { load: server, pages: ['users', 'rights', 'upkeep', 'server', 'activity', 'log', 'replications', 'replication', 'replicate'] },
  { load: () => import('./areas/play.js'), pages: ['play'] },
];

/** The function that makes a page, by the page's name in an address. */
export async function pageNamed(name) { return first[name] ?? (await AREAS.find(({ pages }) => pages.includes(name)).load())[name]; }

/** What the frame shows when somebody asks for it: the palette, the lists of databases, places and commands. */
export const loadFrame = () => import('./areas/frame.js');

/** What sets a password, which has parts of the pages of the server. */
export const loadPassword = server;
