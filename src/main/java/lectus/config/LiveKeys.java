package lectus.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.database.SettingsSubspace.SettingName;
import lectus.json.JsonLimits;

/** All keys that may be changed while servers run, under CouchDB's names. */
final class LiveKeys {
  private static final String TRUE = "true";
  private static final String FALSE = "false";

  /** In either section: CouchDB's earlier versions had the other one. */
  private static final List<ChangeableKey> OF_LOG_IN =
      Stream.of(
              ChangeableKey.of("chttpd_auth/timeout", AccessKeys.COOKIE_SECONDS),
              ChangeableKey.of(
                  "chttpd_auth/allow_persistent_cookies", AccessKeys.PERSISTENT_COOKIES),
              ChangeableKey.of("chttpd_auth/cookie_domain", AccessKeys.COOKIE_DOMAIN),
              ChangeableKey.of("chttpd_auth/same_site", AccessKeys.COOKIE_SAME_SITE)
                  .translated(LiveKeys::sameSite),
              ChangeableKey.of(
                  "chttpd_auth/authentication_redirect", AccessKeys.AUTHENTICATION_REDIRECT),
              ChangeableKey.of("chttpd_auth/public_fields", AccountKeys.PUBLIC_FIELDS)
                  .elseSafely(""))
          .map(it -> it.or("couch_httpd_auth/" + it.name().name()))
          .toList();

  private static final List<ChangeableKey> OF_ACCESS =
      List.of(
          ChangeableKey.of("chttpd/require_valid_user", AccessKeys.REQUIRE_VALID_USER)
              .or("chttpd_auth/require_valid_user")
              .or("couch_httpd_auth/require_valid_user")
              .elseSafely(TRUE),
          ChangeableKey.of(
                  "chttpd/require_valid_user_except_for_up",
                  AccessKeys.REQUIRE_VALID_USER_EXCEPT_FOR_UP)
              .elseSafely(TRUE),
          ChangeableKey.of("chttpd/admin_only_all_dbs", AccessKeys.ADMIN_ONLY_ALL_DBS)
              .elseSafely(TRUE),
          ChangeableKey.of("httpd/WWW-Authenticate", AccessKeys.CHALLENGE)
              .or("chttpd/WWW-Authenticate"),
          ChangeableKey.of(
                  "couchdb/users_db_security_editable", AccountKeys.USERS_SECURITY_EDITABLE)
              .elseSafely(FALSE),
          ChangeableKey.of("chttpd_auth_lockout/mode", AccountKeys.LOCKOUT).elseSafely("enforce"),
          ChangeableKey.of("jwt_auth/required_claims", AccessKeys.JWT_REQUIRED_CLAIMS)
              .translated(LiveKeys::claims),
          ChangeableKey.of("couch_peruser/enable", AccountKeys.PER_USER_DATABASES),
          ChangeableKey.of("couch_peruser/delete_dbs", AccountKeys.DELETE_USER_DATABASES)
              .elseSafely(FALSE));

  private static final List<ChangeableKey> OF_CORS =
      List.of(
          ChangeableKey.of("chttpd/enable_cors", CorsKeys.CORS_ENABLED)
              .or("httpd/enable_cors")
              .within(ValueType.FLAG)
              .elseSafely(FALSE),
          ChangeableKey.of("cors/origins", CorsKeys.CORS_ORIGINS).elseSafely(""),
          ChangeableKey.of("cors/credentials", CorsKeys.CORS_CREDENTIALS)
              .within(ValueType.FLAG)
              .elseSafely(FALSE),
          ChangeableKey.of("cors/methods", CorsKeys.CORS_METHODS),
          ChangeableKey.of("cors/headers", CorsKeys.CORS_HEADERS),
          ChangeableKey.of("cors/max_age", CorsKeys.CORS_MAX_AGE));

  private static final List<ChangeableKey> OF_SIZES =
      List.of(
          ChangeableKey.of("chttpd/max_http_request_size", HttpKeys.MAX_REQUEST_BYTES)
              .or("httpd/max_http_request_size")
              .size(HttpKeys.MIN_REQUEST_BYTES, Long.MAX_VALUE),
          ChangeableKey.of("couchdb/max_document_size", DocumentKeys.MAX_DOCUMENT_BYTES)
              .size(1, JsonLimits.MAX_DOCUMENT_BYTES),
          ChangeableKey.of("couchdb/max_attachment_size", DocumentKeys.MAX_ATTACHMENT_BYTES)
              .translated(LiveKeys::infinity),
          ChangeableKey.of("couchdb/db_expiration_retention_sec", DocumentKeys.KEEP_DELETED_SECONDS)
              .elseSafely(DocumentKeys.KEEP_DELETED_LONGEST),
          ChangeableKey.of("attachments/compression_level", DocumentKeys.COMPRESSION_LEVEL),
          ChangeableKey.of("attachments/compressible_types", DocumentKeys.COMPRESSED_TYPES),
          ChangeableKey.of("chttpd/decode_plus_to_space", HttpKeys.DECODE_PLUS),
          ChangeableKey.of("uuids/max_count", HttpKeys.MAX_UUIDS));

  private static final List<ChangeableKey> OF_REPLICATIONS =
      List.of(
          ChangeableKey.of("replicator/max_jobs", ReplicatorKeys.MAX_JOBS),
          ChangeableKey.of("replicator/interval", ReplicatorKeys.INTERVAL_MILLIS),
          ChangeableKey.of("replicator/max_churn", ReplicatorKeys.MAX_CHURN),
          ChangeableKey.of("replicator/max_history", ReplicatorKeys.MAX_HISTORY),
          ChangeableKey.of("replicator/health_threshold", ReplicatorKeys.HEALTH_SECONDS),
          ChangeableKey.of("replicator/update_docs", ReplicatorKeys.UPDATE_DOCUMENTS),
          ChangeableKey.of("relocation/max_bytes_per_second", ReplicatorKeys.RELOCATION_BYTES));

  /** Sections without a meaning here: settings in them are kept and shown. */
  private static final Set<String> KEPT_SECTIONS =
      Set.of(
          """
          compactions fabric indexers ioq ioq.bypass ken ken.ignore log mem3 query_server_config
          replicator replicator.shares rexi smoosh smoosh.ignore stats view_compaction
          """
              .split("\\s+"));

  /** The same of single names in sections of which others have a meaning. */
  private static final Set<SettingName> KEPT =
      """
      chttpd/bulk_get_use_batches chttpd/buffer_response chttpd/changes_timeout
      chttpd/max_db_number_for_dbs_info_req couchdb/attachment_stream_buffer_size
      couchdb/changes_doc_ids_optimization_threshold couchdb/delayed_commits
      couchdb/enable_database_recovery couchdb/file_compression couchdb/max_dbs_open
      couchdb/max_partition_size couchdb/os_process_timeout couchdb/update_lru_on_read
      mango/index_scan_warning_threshold uuids/algorithm uuids/utc_id_suffix
      """
          .lines()
          .flatMap(line -> Stream.of(line.split(" ")))
          .map(name -> SettingName.parse(name).orElseThrow())
          .collect(Collectors.toUnmodifiableSet());

  static final List<ChangeableKey> ALL =
      Stream.of(OF_ACCESS, OF_LOG_IN, OF_CORS, OF_SIZES, OF_REPLICATIONS)
          .flatMap(List::stream)
          .toList();

  private static final Map<SettingName, ChangeableKey> BY_NAME =
      ALL.stream()
          .flatMap(key -> key.names().stream().map(name -> Map.entry(name, key)))
          .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

  private LiveKeys() {}

  static Optional<ChangeableKey> of(SettingName name) {
    return Optional.ofNullable(BY_NAME.get(name));
  }

  /**
   * Whether a setting has no meaning here and is harmless to ignore. A secret would be shown, so
   * none is kept.
   */
  static boolean isKept(SettingName name) {
    boolean isSecret = name.name().contains("password") || name.name().contains("secret");
    return !isSecret && (KEPT_SECTIONS.contains(name.section()) || KEPT.contains(name));
  }

  /**
   * CouchDB writes a claim that must have a value as {@code {iss, "value"}}. One with a comma in
   * its value stays as it is, which is refused.
   */
  private static String claims(String text) {
    return text.replaceAll("\\{\\s*([^\\s,{}]+)\\s*,\\s*\"([^\",]*)\"\\s*\\}", "$1=$2");
  }

  /** CouchDB writes nothing where cookies have no such attribute. */
  private static String sameSite(String text) {
    return text.isEmpty() ? "unset" : text.toLowerCase(Locale.ROOT);
  }

  private static String infinity(String text) {
    return text.equals("infinity") ? Long.toString(Long.MAX_VALUE) : text;
  }

  /**
   * A key that may be changed while servers run.
   *
   * @param names CouchDB's; it is stored under the first
   * @param type of the values that may be set
   * @param translation of CouchDB's values before that
   * @param narrowing of what may be set to what the key takes
   * @param safe what is in force where the stored value is of no use; empty: what is configured
   */
  record ChangeableKey(
      List<SettingName> names,
      ConfigurationKey<?> key,
      ValueType<?> type,
      UnaryOperator<String> translation,
      UnaryOperator<String> narrowing,
      Optional<String> safe) {

    /**
     * @param name as {@code section/name}
     */
    static ChangeableKey of(String name, ConfigurationKey<?> key) {
      return new ChangeableKey(
          List.of(parsed(name)),
          key,
          key.type(),
          UnaryOperator.identity(),
          UnaryOperator.identity(),
          Optional.empty());
    }

    ChangeableKey or(String name) {
      List<SettingName> all = new ArrayList<>(names);
      all.add(parsed(name));
      return new ChangeableKey(List.copyOf(all), key, type, translation, narrowing, safe);
    }

    ChangeableKey within(ValueType<?> narrower) {
      return new ChangeableKey(names, key, narrower, translation, narrowing, safe);
    }

    /**
     * A size may be set beyond what the server can hold, as CouchDB's set-up scripts do; in force
     * is no more than that.
     *
     * @param most what the key takes
     */
    ChangeableKey size(long least, long most) {
      return new ChangeableKey(
          names,
          key,
          ValueType.longNumber(least, Long.MAX_VALUE),
          translation,
          text -> Long.toString(Math.min(Long.parseLong(text), most)),
          safe);
    }

    ChangeableKey translated(UnaryOperator<String> other) {
      return new ChangeableKey(names, key, type, other, narrowing, safe);
    }

    /** What is in force is this, unless the store says otherwise and can be understood. */
    ChangeableKey elseSafely(String text) {
      return new ChangeableKey(names, key, type, translation, narrowing, Optional.of(text));
    }

    SettingName name() {
      return names.get(0);
    }

    /** Returns the key's value for one of CouchDB's; empty if it takes no such value. */
    Optional<String> valueOf(String text) {
      String value = translation.apply(text);
      return type.parse().apply(value).map(parsed -> narrowing.apply(value));
    }

    private static SettingName parsed(String name) {
      return SettingName.parse(name).orElseThrow();
    }
  }
}
