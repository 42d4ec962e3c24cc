/** What the data service is started with; it crosses into a Worker, so it is plain data. */
export interface DataServiceSettings {
  /** A folder of PGlite's own with the digest that it was prepared as, or the address of a real PostgreSQL. */
  database: { folder: string; preparedAs?: string } | { url: string };
  /** Where it listens; any free port without it. */
  port?: number;
  /** Public base of the site, without a slash at the end. */
  siteUrl: string;
  /** Base of `/rest/v1` and `/auth/v1` as others see it. */
  publicUrl: string;
  jwtSecret: string;
  publishableKey: string;
  secretKey: string;
  cronSecret: string;
  smtpPort: number;
  mailFrom: string;
  /** Load supabase/seed.sql into a database that has no users yet. */
  demo: boolean;
  /** Run what `cron.job` holds. */
  schedules: boolean;
}

/** Who the demo data is about; undefined without it. */
export interface Demo {
  email: string;
  other_email: string;
  organization_id: string;
  other_organization_id: string;
  payment_plans: Record<string, string>;
}

export interface DataService {
  /** Digest of what the database is prepared as now. */
  preparedAs: string;
  /** Loopback base of `/rest/v1`, `/auth/v1` and `/health`. */
  url: string;
  demo?: Demo;
  setClockOffset(ms: number): void;
  close(): Promise<void>;
}
