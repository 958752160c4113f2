package lectus.http.node;

import java.util.ArrayList;
import java.util.List;
import lectus.account.PublicFields;
import lectus.document.edit.DocumentLimits;
import lectus.http.AccessSettings;
import lectus.http.CookieSettings;
import lectus.http.CorsSettings;
import lectus.http.HttpSettings;

/**
 * The settings in force, under the names that they have in CouchDB's configuration, as far as
 * clients and their set-up scripts look at them. No secret is among them.
 */
final class CouchConfig {
  private final List<ConfigEntry> entries = new ArrayList<>();

  CouchConfig(String storeId, HttpSettings settings, DocumentLimits documents) {
    add("couchdb", "uuid", storeId, "");
    add("couchdb", "single_node", "true", "");
    add(
        "couchdb",
        "max_document_size",
        Integer.toString(documents.json().documentBytes()),
        "documents.max-bytes");
    addRequests(settings);
    addAccess(settings.access());
    addPublicFields(settings.access().publicFields());
    addCookies(settings.access().cookies());
    addCors(settings.cors());
  }

  List<ConfigEntry> entries() {
    return entries;
  }

  private void add(String section, String name, String value, String key) {
    entries.add(new ConfigEntry(section, name, value, key));
  }

  private void add(String section, String name, boolean value, String key) {
    add(section, name, Boolean.toString(value), key);
  }

  private void addRequests(HttpSettings settings) {
    String bytes = Integer.toString(settings.maxRequestBytes());
    add("chttpd", "max_http_request_size", bytes, "http.max-request-bytes");
    add("uuids", "max_count", Integer.toString(settings.maxUuids()), "uuids.max-count");
    add("vendor", "name", "Lectus", "");
  }

  /** Both sections name it; the later is CouchDB's own. */
  private void addAccess(AccessSettings access) {
    String key = "access.require-valid-user";
    add("chttpd", "require_valid_user", access.requiresValidUser(), key);
    add("chttpd_auth", "require_valid_user", access.requiresValidUser(), key);
    add(
        "chttpd",
        "require_valid_user_except_for_up",
        access.requiresValidUserButForUp(),
        "access.require-valid-user-except-for-up");
    add(
        "chttpd",
        "admin_only_all_dbs",
        access.onlyAdminsListDatabases(),
        "access.admin-only-all-dbs");
    if (access.requiresValidUser()) {
      add("httpd", "WWW-Authenticate", "Basic realm=\"server\"", key);
    }
  }

  private void addPublicFields(PublicFields fields) {
    if (!fields.isEmpty()) {
      String names = String.join(",", fields.names());
      add("chttpd_auth", "public_fields", names, "access.public-fields");
      add("couch_httpd_auth", "public_fields", names, "access.public-fields");
    }
  }

  private void addCookies(CookieSettings cookies) {
    String section = "chttpd_auth";
    add(section, "timeout", Integer.toString(cookies.seconds()), "access.cookie-seconds");
    add(section, "allow_persistent_cookies", cookies.persistent(), "access.persistent-cookies");
    cookies
        .domain()
        .ifPresent(domain -> add(section, "cookie_domain", domain, "access.cookie-domain"));
    cookies
        .sameSite()
        .ifPresent(site -> add(section, "same_site", site, "access.cookie-same-site"));
  }

  private void addCors(CorsSettings cors) {
    add("chttpd", "enable_cors", cors.enabled(), "cors.origins");
    add("httpd", "enable_cors", cors.enabled(), "cors.origins");
    add("cors", "credentials", cors.credentials(), "cors.credentials");
    add("cors", "origins", String.join(",", cors.origins()), "cors.origins");
    add("cors", "methods", String.join(", ", cors.methods()), "cors.methods");
    add("cors", "headers", String.join(", ", cors.headers()), "cors.headers");
    add("cors", "max_age", Integer.toString(cors.maxAgeSeconds()), "cors.max-age");
  }
}
