set local lock_timeout = '10s';
set local statement_timeout = '60s';
set local check_function_bodies = off;

ALTER TABLE "app"."payments" SET (autovacuum_analyze_scale_factor=0.02);

CREATE OR REPLACE FUNCTION public.ping()
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  return jsonb_build_object('schema', 2);
end
$function$;
