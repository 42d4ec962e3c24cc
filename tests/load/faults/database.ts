/** PostgreSQL and its connections: restarted, killed, sessions ended, connections cut in the middle. */
import { type Fault, pause } from "./fault.ts";

const TIMES = 6;
const PAUSE_MS = 400;

export const DATABASE: Fault[] = [
  { name: "PostgreSQL is restarted", act: ({ world }) => world.cluster.restart("fast") },
  { name: "PostgreSQL is killed with -9", act: ({ world }) => world.cluster.restart("crash") },
  {
    name: "sessions are ended in the middle of their transactions",
    async act({ world }) {
      for (let time = 0; time < TIMES; time++) {
        await world.admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where usename in ('authenticator', 'expenses') and random() < 0.5",
        );
        await pause(PAUSE_MS * Math.random());
      }
    },
  },
  {
    name: "connections to PostgreSQL are cut",
    async act({ world }) {
      for (let time = 0; time < TIMES; time++) {
        world.wire!.cut(0.5);
        await pause(PAUSE_MS * Math.random());
      }
    },
  },
];
