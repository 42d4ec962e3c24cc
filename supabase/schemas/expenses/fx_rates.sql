create table app.fx_rates (
  quote text not null references app.currencies (code),
  rate_on date not null,
  source text not null constraint fx_rates_source_length check (length(source) between 1 and 40),
  rate numeric(20, 10) not null constraint fx_rates_rate_positive check (rate > 0),
  fetched_at timestamptz not null default app.instant(),
  primary key (quote, rate_on, source)
);
comment on table app.fx_rates is
  'The amount of a currency that one euro bought on a day, by source. Rows are never updated in place.';
create index fx_rates_rate_on_idx on app.fx_rates (rate_on);
-- Only the embedded stack has snapshot rates.
create index fx_rates_snapshot_idx on app.fx_rates (quote, rate_on) where source = 'snapshot';

create table app.fx_days (
  day date primary key,
  attempts int not null default 0 constraint fx_days_attempts_positive check (attempts >= 0),
  attempted_at timestamptz,
  settled_at timestamptz
);
comment on column app.fx_days.attempts is
  'The number of days with a request for the rates; several attempts on one day count once.';
comment on table app.fx_days is
  'Days whose rates were requested. A settled day gets no more rates; if it has none, the latest earlier rates apply.';
