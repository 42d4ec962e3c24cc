/** Settings of the data service. They are plain data, because they are sent to a Worker. */
export interface DataServiceSettings {
  /** PGlite's folder and the digest of the image that filled it, or the URL of a PostgreSQL server. */
  database: { folder: string; preparedAs?: string } | { url: string };
  /** The port to listen on; any free one if absent. */
  port?: number;
  /** Public base URL of the site, without a trailing slash. */
  siteUrl: string;
  /** Public base URL of `/rest/v1` and `/auth/v1`. */
  publicUrl: string;
  /** HS256 secret of the access tokens. */
  jwtSecret: string;
  publishableKey: string;
  secretKey: string;
  cronSecret: string;
  /** The destination of sign-in mails, in the form of `MAIL_URL`. */
  mailUrl: string;
  mailFrom: string;
  /** Whether a checkout is configured, which means that the operator sells plans. */
  sellsPlans: boolean;
  /** Load supabase/seed.sql into a database without users. */
  demo: boolean;
  /** Run the jobs in `cron.job`. */
  schedules: boolean;
  /** For real use: the identity provider serves only the functions, and other instances may use the same database. */
  production?: {
    /** Jobs call this process at this URL instead of `publicUrl`. */
    jobsUrl: string;
  };
}

/** The users of the demo data; undefined without it. */
export interface Demo {
  email: string;
  other_email: string;
  organization_id: string;
  other_organization_id: string;
  payment_plans: Record<string, string>;
}

export interface DataService {
  /** Digest of the current preparation. */
  preparedAs: string;
  /** Loopback base URL of `/rest/v1` and `/auth/v1`. */
  url: string;
  demo?: Demo;
  setClockOffset(ms: number): void;
  close(): Promise<void>;
}
