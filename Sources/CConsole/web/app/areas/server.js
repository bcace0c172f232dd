/** The pages of the server, and of who may do what in it and in a database. */
export { default as users } from '../pages/users.js';
export { default as rights } from '../pages/rights.js';
export { default as upkeep } from '../pages/upkeep.js';
export { default as server } from '../pages/server.js';
export { default as activity } from '../pages/activity.js';
export { default as log } from '../pages/log.js';
export { default as replications } from '../pages/replications.js';
export { default as replication } from '../pages/replication.js';
export { default as replicate } from '../pages/replicate.js';
export { changePassword } from '../users/password.js';
