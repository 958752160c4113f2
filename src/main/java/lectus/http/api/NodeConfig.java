package lectus.http.api;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import lectus.account.AccountSettings;
import lectus.account.AdminChanges;
import lectus.account.UserDocuments;
import lectus.account.UserDocuments.PublicFields;
import lectus.database.LiveSettings;
import lectus.database.SecurityObject;
import lectus.database.SettingsSubspace.SettingName;
import lectus.document.edit.DocumentParser.DocumentLimits;
import lectus.error.LectusException;
import lectus.http.HttpSettings;
import lectus.http.HttpSettings.AccessSettings;
import lectus.http.HttpSettings.CookieSettings;
import lectus.http.HttpSettings.CorsSettings;
import lectus.http.Reply;
import lectus.http.ServedSettings;
import lectus.http.ServedSettings.ChangeableSettings;
import lectus.http.ServedSettings.SettingsPlan;
import lectus.http.exchange.Requests;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/**
 * {@code /_node/{node}/_config}: what is in force, under CouchDB's names. What is set here is the
 * store's, and in force on all of its servers; {@link CouchSettings} has what can be set. In the
 * section {@code admins} are the admins, where CouchDB's clients and containers make them; as in
 * CouchDB, a password is shown as its hash.
 */
record NodeConfig(CouchSettings settings, AdminChanges admins) {
  static final String ADMINS = "admins";

  /** The names in a path to all sections, to one, and to a value. */
  private static final int TO_ALL = 1;

  private static final int TO_SECTION = 2;
  private static final int TO_VALUE = 3;

  Future<Reply> answer(NodeRequest request) {
    List<String> path = request.path();
    boolean isOfAdmins = path.size() > TO_ALL && path.get(TO_ALL).equals(ADMINS);
    return switch (path.size()) {
      case TO_ALL -> {
        request.allow("GET");
        yield request.read(() -> Reply.json(200, all()));
      }
      case TO_SECTION -> isOfAdmins ? ofAdmins(request) : ofSection(request, path.get(TO_ALL));
      case TO_VALUE ->
          isOfAdmins
              ? ofAdmin(request, path.get(TO_SECTION))
              : ofValue(request, new SettingName(path.get(TO_ALL), path.get(TO_SECTION)));
      default -> throw LectusException.notFound("missing");
    };
  }

  private JsonBuffer all() {
    JsonBuffer json = new JsonBuffer(2_048);
    Map<String, Map<String, String>> sections = sections();
    sections.put(ADMINS, hashes());
    return json.object(sections, values -> append(json, values));
  }

  private Map<String, Map<String, String>> sections() {
    Map<String, Map<String, String>> sections = new TreeMap<>();
    settings
        .values()
        .forEach(
            (name, value) ->
                sections
                    .computeIfAbsent(name.section(), section -> new TreeMap<>())
                    .put(name.name(), value));
    return sections;
  }

  private static JsonBuffer append(JsonBuffer json, Map<String, String> values) {
    return json.object(values, json::string);
  }

  /** A server reads its configuration when it starts, so there is nothing to reload. */
  private Future<Reply> ofSection(NodeRequest request, String name) {
    boolean isReload = name.equals("_reload");
    request.allow(isReload ? "POST" : "GET");
    return Future.succeededFuture(
        isReload
            ? Reply.ok(200)
            : Reply.json(
                200, append(new JsonBuffer(512), sections().getOrDefault(name, Map.of()))));
  }

  private Future<Reply> ofValue(NodeRequest request, SettingName name) {
    return switch (request.method()) {
      case GET, HEAD -> Future.succeededFuture(reply(settings.value(name)));
      case PUT -> request.change(() -> reply(settings.put(name, text(request.body()))));
      case DELETE -> request.change(() -> reply(settings.remove(name)));
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  private Future<Reply> ofAdmins(NodeRequest request) {
    request.allow("GET");
    return request.read(() -> Reply.json(200, append(new JsonBuffer(256), hashes())));
  }

  private Future<Reply> ofAdmin(NodeRequest request, String name) {
    return switch (request.method()) {
      case GET, HEAD -> request.read(() -> reply(known(Optional.ofNullable(hashes().get(name)))));
      case PUT -> request.change(() -> reply(admins.put(name, text(request.body())).orElse("")));
      case DELETE ->
          request.change(
              () -> {
                settings.checkRemovalOfAdmin(name);
                return reply(known(admins.remove(name)));
              });
      default -> throw Requests.notAllowed("GET,PUT,DELETE");
    };
  }

  /** Returns the admins with their passwords' hashes; waits for the store. */
  private Map<String, String> hashes() {
    Map<String, String> hashes = new TreeMap<>();
    admins.all().forEach(admin -> hashes.put(admin.name(), admin.hash()));
    return hashes;
  }

  private static String known(Optional<String> value) {
    return value.orElseThrow(() -> LectusException.notFound("unknown_config_value"));
  }

  /**
   * Returns a value of CouchDB's configuration, which is always a string.
   *
   * @throws LectusException {@code bad_request}: no JSON string
   */
  private static String text(byte[] body) {
    if (JsonValue.parse(body) instanceof JsonValue.JsonString text) {
      return text.value().strip();
    }
    throw LectusException.badRequest("a JSON string expected");
  }

  private static Reply reply(String value) {
    return Reply.json(200, new JsonBuffer(128).string(value));
  }

  /**
   * What is in force, under CouchDB's names, and what of it is changed. A change is the store's:
   * all of its servers follow it, and keep it when they are restarted.
   */
  static final class CouchSettings {
    private static final String UNKNOWN = "unknown_config_value";

    /** With one of these, nobody does anything who cannot log in. */
    private static final Set<SettingName> LOCKS =
        Set.of(
            new SettingName("chttpd", "require_valid_user"),
            new SettingName("chttpd", "require_valid_user_except_for_up"));

    private final String storeId;
    private final LiveSettings<ServedSettings> live;
    private final SettingsPlan plan;
    private final AdminChanges admins;

    CouchSettings(String storeId, ChangeableSettings settings, AdminChanges admins) {
      this.storeId = storeId;
      this.live = settings.live();
      this.plan = settings.plan();
      this.admins = admins;
    }

    /** Returns the values in force, in the order of their names. */
    Map<SettingName, String> values() {
      return values(live.current());
    }

    private Map<SettingName, String> values(ServedSettings settings) {
      Map<SettingName, String> values = new TreeMap<>(settings.texts());
      for (ConfigEntry entry : new CouchConfig(storeId, settings).entries()) {
        values.put(entry.name(), textOf(settings, entry.name()).orElse(entry.value()));
      }
      return values;
    }

    private Optional<String> textOf(ServedSettings settings, SettingName name) {
      return plan.nameOf(name).map(settings.texts()::get);
    }

    /**
     * Returns the value of a setting, which may have several names.
     *
     * @throws LectusException {@code not_found}: there is none
     */
    String value(SettingName name) {
      return find(live.current(), name).orElseThrow(() -> LectusException.notFound(UNKNOWN));
    }

    private Optional<String> find(ServedSettings settings, SettingName name) {
      Map<SettingName, String> values = values(settings);
      return Optional.ofNullable(values.get(name)).or(() -> plan.nameOf(name).map(values::get));
    }

    /**
     * Sets a value, which is in force on this server when this returns. Waits for the store. What
     * cannot be changed may be set to what is in force: set-up scripts that find what they want go
     * on.
     *
     * @return the former value, as CouchDB does; empty if there was none
     * @throws LectusException {@code bad_request}: there is no such setting, it does not take this
     *     value, or nobody could log in
     */
    String put(SettingName name, String text) {
      Optional<SettingName> stored = plan.nameOf(name);
      if (stored.isEmpty()) {
        return kept(name, text);
      }
      plan.check(stored.get(), text);
      checkLockOut(stored.get(), text);
      return live.put(stored.get(), text).or(() -> find(live.configured(), name)).orElse("");
    }

    /**
     * Leaves a setting to the configuration again. Waits for the store.
     *
     * @return the former value
     * @throws LectusException {@code not_found}: there was none; {@code bad_request}: it cannot be
     *     changed, or nobody could log in
     */
    String remove(SettingName name) {
      Optional<SettingName> stored = plan.nameOf(name);
      if (stored.isEmpty()) {
        throw LectusException.badRequest(
            fixed(name).orElseThrow(() -> LectusException.notFound(UNKNOWN)).advice());
      }
      Optional<String> configured = find(live.configured(), name);
      checkLockOut(stored.get(), configured.orElse(""));
      return live.remove(stored.get())
          .or(() -> configured)
          .orElseThrow(() -> LectusException.notFound(UNKNOWN));
    }

    /**
     * Refuses what would leave a server that wants a log-in without an admin: nobody could
     * administrate it any more. Waits for the store. Two changes at the same moment can get past
     * it.
     *
     * @param stored the name under which the setting is stored
     * @param text the value that it is about to have
     * @throws LectusException {@code bad_request}
     */
    private void checkLockOut(SettingName stored, String text) {
      if (LOCKS.contains(stored) && text.equals("true") && admins.all().isEmpty()) {
        throw LectusException.badRequest(
            "There is no admin, so nobody could log in. Make one first: PUT"
                + " /_node/_local/_config/admins/NAME.");
      }
    }

    /** As {@link #checkLockOut}, for an admin who is about to be removed. */
    void checkRemovalOfAdmin(String admin) {
      AccessSettings access = live.current().http().access();
      if ((access.requiresValidUser() || access.requiresValidUserButForUp())
          && admins.all().stream().map(it -> it.name()).toList().equals(List.of(admin))) {
        throw LectusException.badRequest(
            "This is the last admin, and chttpd/require_valid_user is true, so nobody could change"
                + " anything. Make another admin first, or set that to false.");
      }
    }

    private String kept(SettingName name, String text) {
      ConfigEntry entry =
          fixed(name)
              .orElseThrow(
                  () ->
                      LectusException.badRequest("This is no setting of Lectus; nothing was set."));
      if (!entry.isInForce(text)) {
        throw LectusException.badRequest(entry.advice());
      }
      return entry.value();
    }

    private Optional<ConfigEntry> fixed(SettingName name) {
      return new CouchConfig(storeId, live.current())
          .entries().stream().filter(it -> it.name().equals(name)).findFirst();
    }

    /**
     * Settings under the names that they have in CouchDB's configuration, as far as clients and
     * their set-up scripts look at them. No secret is among them.
     */
    private static final class CouchConfig {
      private static final String BASIC = "Basic realm=\"server\"";

      private final List<ConfigEntry> entries = new ArrayList<>();

      CouchConfig(String storeId, ServedSettings settings) {
        HttpSettings http = settings.http();
        add("couchdb", "uuid", storeId);
        add("couchdb", "single_node", true);
        add("vendor", "name", "Lectus");
        addSizes(http, settings.documents());
        addAccess(http.access());
        add("couchdb", "db_expiration_retention_sec", settings.databases().keptSeconds());
        add("chttpd", "decode_plus_to_space", http.requests().decodesPlus());
        add(
            "chttpd_auth_lockout",
            "mode",
            settings.accounts().lockout().name().toLowerCase(Locale.ROOT));
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
        add("chttpd", "max_http_request_size", http.requests().maxRequestBytes());
        add("uuids", "max_count", http.requests().maxUuids());
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
        String security =
            access.unset().equals(SecurityObject.EVERYBODY) ? "everyone" : "admin_only";
        addFixed("couchdb", "default_security", security, "access.default-security");
      }

      private void addUsualChallenge(AccessSettings access) {
        if (access.requiresValidUser()) {
          add("httpd", "WWW-Authenticate", BASIC);
        }
      }

      private void addPublicFields(PublicFields fields) {
        add("chttpd_auth", "authentication_db", UserDocuments.USERS.text());
        add("chttpd_auth", "users_db_public", false);
        if (!fields.names().isEmpty()) {
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

    /**
     * A setting under CouchDB's name for it.
     *
     * @param value in force, as CouchDB writes it
     * @param key of this server's configuration; empty if there is none
     */
    private record ConfigEntry(SettingName name, String value, String key) {

      /** Whether a value means the same as the one in force; in lists, order does not matter. */
      boolean isInForce(String wanted) {
        return words(wanted).equals(words(value));
      }

      private static Set<String> words(String text) {
        return Arrays.stream(text.split(",")).map(String::strip).collect(Collectors.toSet());
      }

      /** Returns what is to be done instead of setting it here. */
      String advice() {
        return key.isEmpty()
            ? name + " cannot be changed."
            : name + " cannot be changed while the server runs: its configuration has " + key + ".";
      }
    }
  }
}
