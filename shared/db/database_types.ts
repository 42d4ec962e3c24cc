/** The functions of schema public, as `supabase gen types` reads them from a database; not written by hand. */

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  "public": {
    Tables: {
      [_ in never]: never;
    };
    Views: {
      [_ in never]: never;
    };
    Functions: {
      "apply_payment_event": {
        Args: { "at": string; "body_hash": string; "event": Json; "event_id": string };
        Returns: Json;
      };
      "approve_consent": {
        Args: { "at": string; "client_id": string; "consent_id": string; "organization_id": string; "user_id": string };
        Returns: Json;
      };
      "authenticate_bearer": {
        Args: { "at": string; "limits"?: Json; "resource": string; "token_hash": string };
        Returns: Json;
      };
      "call_tool": {
        Args: {
          "arguments": Json;
          "at": string;
          "limits"?: Json;
          "resource": string;
          "token_hash": string;
          "tool": string;
        };
        Returns: Json;
      };
      "change_country": { Args: { "at": string; "country": string; "user_id": string }; Returns: Json };
      "change_provider_link": {
        Args: { "action": string; "at": string; "link_id": string; "user_id": string };
        Returns: Json;
      };
      "claim_attempt": {
        Args: { "at": string; "at_most": number; "key_hash": string; "quotas": Json; "seconds_apart": number };
        Returns: Json;
      };
      "claim_provider_link": {
        Args: { "again": boolean; "at": string; "before": string; "period": string };
        Returns: Json;
      };
      "claim_reminders": { Args: { "at": string; "size": number }; Returns: Json };
      "collect_reminders": { Args: { "after"?: Json; "at": string; "size"?: number }; Returns: Json };
      "complete_onboarding": {
        Args: {
          "at": string;
          "base_currency": string;
          "country": string;
          "email": string;
          "organization_name": string;
          "reminder_email": string;
          "timezone": string;
          "user_id": string;
        };
        Returns: Json;
      };
      "confirm_reminder_email": { Args: { "at": string; "reminder_email": string; "user_id": string }; Returns: Json };
      "connect_provider": {
        Args: {
          "account_label": string;
          "at": string;
          "bill_id": string;
          "envelope": Json;
          "link_id": string;
          "provider_key": string;
          "provider_name": string;
          "user_id": string;
        };
        Returns: Json;
      };
      "count_provider_links": {
        Args: { "again": boolean; "at": string; "before": string; "period": string };
        Returns: Json;
      };
      "count_reminder_candidates": { Args: { "at": string }; Returns: number };
      "count_waiting_reminders": { Args: { "at": string }; Returns: number };
      "count_wrong_verifier": {
        Args: { "at": string; "client_id": string; "code_expires_at": string; "code_id": string; "limits"?: Json };
        Returns: Json;
      };
      "dismiss_grant_alerts": { Args: { "at": string; "until": string; "user_id": string }; Returns: Json };
      "find_client": { Args: { "at": string; "client_id": string; "limits"?: Json }; Returns: Json };
      "find_rolling_pages": { Args: { "at": string; "size": number }; Returns: Json };
      "keep_provider_answer": {
        Args: { "answer": Json; "at": string; "lease_token": string; "link_id": string; "period": string };
        Returns: Json;
      };
      "list_connected_apps": { Args: { "at": string; "user_id": string }; Returns: Json };
      "list_grant_alerts": { Args: { "user_id": string }; Returns: Json };
      "note_sign_in": { Args: { "at": string; "email": string; "user_id": string }; Returns: Json };
      "open_connection": {
        Args: { "at": string; "bill_id": string; "provider_key": string; "quotas": Json; "user_id": string };
        Returns: Json;
      };
      "open_consent": {
        Args: { "at": string; "client_id": string; "quotas"?: Json; "user_id": string };
        Returns: Json;
      };
      "open_document_consent": {
        Args: {
          "at": string;
          "client_id": string;
          "known_quotas"?: Json;
          "page_quotas"?: Json;
          "quotas": Json;
          "user_id": string;
        };
        Returns: Json;
      };
      "ping": { Args: Record<PropertyKey, never>; Returns: Json };
      "read_account": { Args: { "at": string; "user_id": string }; Returns: Json };
      "read_newest_rates": { Args: Record<PropertyKey, never>; Returns: Json };
      "read_onboarding": { Args: { "user_id": string }; Returns: Json };
      "read_provider_credentials": { Args: { "link_ids": (string)[] }; Returns: Json };
      "read_unsubscribing": { Args: { "owner_id": string; "with_bills": boolean }; Returns: Json };
      "record_job_run": {
        Args: {
          "counts": Json;
          "error_code": string;
          "finished_at": string;
          "job": string;
          "period": string;
          "stage": string;
          "started_at": string;
          "status": string;
        };
        Returns: undefined;
      };
      "record_use": { Args: { "at": string; "token_hash": string }; Returns: Json };
      "redeem_authorization_code": {
        Args: {
          "access_token_hash": string;
          "at": string;
          "client_id": string;
          "code_expires_at": string;
          "code_id": string;
          "limits"?: Json;
          "organization_id": string;
          "redirect_uri": string;
          "refresh_token_hash": string;
          "resource": string;
          "user_id": string;
        };
        Returns: Json;
      };
      "register_client": {
        Args: {
          "at": string;
          "client_id": string;
          "client_name": string;
          "quotas"?: Json;
          "redirect_uris": (string)[];
          "room"?: Json;
        };
        Returns: Json;
      };
      "rename_organization": {
        Args: { "at": string; "name": string; "organization_id": string; "user_id": string };
        Returns: Json;
      };
      "replay_parked_events": {
        Args: { "at"?: string; "organization_id"?: string; "subscription_id"?: string };
        Returns: Json;
      };
      "reseal_provider_credential": {
        Args: { "at": string; "envelope": Json; "link_id": string; "replaced": Json };
        Returns: Json;
      };
      "resume_reminders": { Args: { "at": string; "organization_id": string; "user_id": string }; Returns: Json };
      "revoke_grant": { Args: { "at": string; "grant_id": string; "user_id": string }; Returns: Json };
      "revoke_token": {
        Args: { "at": string; "client_id": string; "limits"?: Json; "token_hash": string };
        Returns: Json;
      };
      "roll_bills": { Args: { "at": string; "page": Json }; Returns: Json };
      "rotate_refresh_token": {
        Args: {
          "access_token_hash": string;
          "at": string;
          "client_id": string;
          "limits"?: Json;
          "successor_hash": string;
          "token_hash": string;
        };
        Returns: Json;
      };
      "settle_reminders": {
        Args: {
          "at": string;
          "batch_id": string;
          "is_last": boolean;
          "lease_token": string;
          "results": Json;
          "retry_at": string;
        };
        Returns: Json;
      };
      "store_client_document": {
        Args: {
          "at": string;
          "client_id": string;
          "client_name": string;
          "fresh_until": string;
          "redirect_uris": (string)[];
          "room"?: Json;
          "user_id": string;
        };
        Returns: Json;
      };
      "store_rates": {
        Args: { "at": string; "per_euro": Json; "published_on": string; "source": string };
        Returns: Json;
      };
      "unsubscribe": { Args: { "at": string; "owner_id": string; "scope": string }; Returns: Json };
      "update_reminders": {
        Args: {
          "at": string;
          "default_lead_days": number;
          "email_enabled": boolean;
          "reminder_email": string;
          "timezone": string;
          "user_id": string;
        };
        Returns: Json;
      };
    };
    Enums: {
      [_ in never]: never;
    };
    CompositeTypes: {
      [_ in never]: never;
    };
  };
};
