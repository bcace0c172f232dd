/** Which area has which page. The pages of an area are loaded together, at the first one of them. */
import * as start from './areas/start.js';

const documents = () => import('./areas/documents.js');
const conflicts = () => import('./areas/conflicts.js');
const server = () => import('./areas/server.js');
const AREAS = [
  [() => start, ['databases', 'login', 'missing']],
  [documents, ['docs', 'doc', 'compare', 'query', 'view', 'changes', 'files', 'design', 'journal']],
  [conflicts, ['conflicts', 'conflict', 'settle']],
  [server, ['users', 'rights', 'upkeep', 'server', 'activity', 'log', 'replications', 'replication', 'replicate']],
  [() => import('./areas/play.js'), ['play']],
];
const areas = new Map(AREAS.flatMap(([load, names]) => names.map(name => [name, load])));

/** The function that makes a page. */
export async function pageNamed(name) { return (await areas.get(name)())[name]; }

/** What the frame shows when somebody asks for it: the palette, lists of databases, places and commands. */
export const loadFrame = () => import('./areas/frame.js');

/** What sets a password; the pages of users have the same parts. */
export const loadPassword = server;
