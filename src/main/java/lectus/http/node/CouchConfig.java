package lectus.http.node;

import java.util.ArrayList;
import java.util.List;
import lectus.access.SecurityObject;
import lectus.account.AccountSettings;
import lectus.account.PublicFields;
import lectus.document.edit.DocumentLimits;
import lectus.http.AccessSettings;
import lectus.http.CookieSettings;
import lectus.http.CorsSettings;
import lectus.http.HttpSettings;
import lectus.http.ServedSettings;
import lectus.setting.SettingName;

/**
 * Settings under the names that they have in CouchDB's configuration, as far as clients and their
 * set-up scripts look at them. No secret is among them.
 */
final class CouchConfig {
  private static final String BASIC = "Basic realm=\"server\"";

  private final List<ConfigEntry> entries = new ArrayList<>();

  CouchConfig(String storeId, ServedSettings settings) {
    HttpSettings http = settings.http();
    add("couchdb", "uuid", storeId);
    add("couchdb", "single_node", true);
    add("vendor", "name", "Lectus");
    addSizes(http, settings.documents());
    addAccess(http.access());
    addPublicFields(http.access().publicFields());
    addCookies(http.access().cookies());
    addAccounts(settings.accounts());
    addCors(http.cors());
  }

  List<ConfigEntry> entries() {
    return entries;
  }

  private void add(String section, String name, String value) {
    addFixed(section, name, value, "");
  }

  private void add(String section, String name, boolean value) {
    add(section, name, Boolean.toString(value));
  }

  private void add(String section, String name, long value) {
    add(section, name, value == Long.MAX_VALUE ? "infinity" : Long.toString(value));
  }

  /** Only the configuration decides it. */
  private void addFixed(String section, String name, String value, String key) {
    entries.add(new ConfigEntry(new SettingName(section, name), value, key));
  }

  private void addSizes(HttpSettings http, DocumentLimits documents) {
    add("couchdb", "max_document_size", documents.json().documentBytes());
    add("couchdb", "max_attachment_size", documents.attachments().mostBytes());
    add("chttpd", "max_http_request_size", http.maxRequestBytes());
    add("uuids", "max_count", http.maxUuids());
  }

  /** Two sections name the log-in; the later is CouchDB's own. */
  private void addAccess(AccessSettings access) {
    add("chttpd", "require_valid_user", access.requiresValidUser());
    add("chttpd_auth", "require_valid_user", access.requiresValidUser());
    add("chttpd", "require_valid_user_except_for_up", access.requiresValidUserButForUp());
    add("chttpd", "admin_only_all_dbs", access.onlyAdminsListDatabases());
    access
        .challenge()
        .ifPresentOrElse(
            text -> add("httpd", "WWW-Authenticate", text), () -> addUsualChallenge(access));
    access.logInPage().ifPresent(page -> add("chttpd_auth", "authentication_redirect", page));
    String security = access.unset().equals(SecurityObject.EVERYBODY) ? "everyone" : "admin_only";
    addFixed("couchdb", "default_security", security, "access.default-security");
  }

  private void addUsualChallenge(AccessSettings access) {
    if (access.requiresValidUser()) {
      add("httpd", "WWW-Authenticate", BASIC);
    }
  }

  private void addPublicFields(PublicFields fields) {
    add("chttpd_auth", "users_db_public", false);
    if (!fields.isEmpty()) {
      String names = String.join(",", fields.names());
      add("chttpd_auth", "public_fields", names);
      add("couch_httpd_auth", "public_fields", names);
    }
  }

  private void addCookies(CookieSettings cookies) {
    String section = "chttpd_auth";
    add(section, "timeout", cookies.seconds());
    add(section, "allow_persistent_cookies", cookies.persistent());
    cookies.domain().ifPresent(domain -> add(section, "cookie_domain", domain));
    cookies.sameSite().ifPresent(site -> add(section, "same_site", site));
  }

  private void addAccounts(AccountSettings accounts) {
    add("couchdb", "users_db_security_editable", accounts.letsUsersSecurityChange());
    add("couch_peruser", "enable", accounts.perUserDatabases());
    add("couch_peruser", "delete_dbs", accounts.deletesUserDatabases());
    add("couch_peruser", "database_prefix", "userdb-");
  }

  private void addCors(CorsSettings cors) {
    add("chttpd", "enable_cors", cors.enabled());
    add("httpd", "enable_cors", cors.enabled());
    add("cors", "credentials", cors.credentials());
    add("cors", "origins", String.join(",", cors.origins()));
    add("cors", "methods", String.join(", ", cors.methods()));
    add("cors", "headers", String.join(", ", cors.headers()));
    add("cors", "max_age", cors.maxAgeSeconds());
  }
}
