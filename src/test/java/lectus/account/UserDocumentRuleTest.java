package lectus.account;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.database.DatabaseName;
import lectus.database.SecurityObject;
import lectus.database.UserContext;
import lectus.database.testing.TestLayout;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.NamedRevisions;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.EditOutcome;
import lectus.error.LectusError;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may write which document, with CouchDB 3.5's sentences. */
class UserDocumentRuleTest {
  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private static final UserContext ANNA = UserContext.named("anna", Set.of());
  private static final UserContext BOB = UserContext.named("bob", Set.of());
  private static final LectusError MISSING = new LectusError.NotFound("missing");

  @AutoClose
  private final TestAccounts here =
      new TestAccounts(stores.fresh(), SecurityObject.EVERYBODY).withUsers();

  /** As it was before CouchDB 3, so that it is the documents' own rules that decide. */
  @BeforeEach
  void letEverybodyIn() {
    here.catalogue.secure(UserDocuments.USERS, TestAccounts.utf8("{}"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          {'name':'a','roles':[]}                            | doc.type must be user
          {'type':'x','name':'a','roles':[]}                 | doc.type must be user
          {'type':'user','roles':[]}                         | doc.name is required
          {'type':'user','name':'','roles':[]}               | doc.name is required
          {'type':'user','name':5,'roles':[]}                | doc.name is required
          {'type':'user','name':'a'}                         | doc.roles must exist
          {'type':'user','name':'a','roles':null}            | doc.roles must exist
          {'type':'user','name':'a','roles':''}              | doc.roles must exist
          {'type':'user','name':'a','roles':'x'}             | doc.roles must be an array
          {'type':'user','name':'a','roles':{}}              | doc.roles must be an array
          {'type':'user','name':'a','roles':[1]}             | doc.roles can only contain strings
          {'type':'user','name':'b','roles':[]}              | Doc ID must be of the form org.couchdb.user:name
          {'type':'user','name':'a','roles':[],'password_sha':'x'} | Users with password_sha must have a salt.
          {'type':'user','name':'a','roles':[],'password_scheme':'x'} | Password scheme not supported.
          {'type':'user','name':'a','roles':[],'password_scheme':'pbkdf2'} | iterations must be a number.
          {'type':'user','name':'a','roles':[],'password_scheme':'pbkdf2','iterations':1} | derived_key must be a string.
          {'type':'user','name':'a','roles':['_admin']}      | No system roles (starting with underscore) in users db.
          """)
  void a_malformed_document_is_forbidden_even_to_an_admin(String json, String reason) {
    Edit edit = here.edit(UserContext.ADMIN_PARTY, "org.couchdb.user:a", json.replace('\'', '"'));
    assertThat(here.store(edit)).contains(new LectusError.Forbidden(reason));
    assertThat(here.store(replicated(edit, "1-a"))).contains(new LectusError.Forbidden(reason));
  }

  @Test
  void names_with_a_colon_or_an_underscore_in_front_are_forbidden() {
    assertForbidden(here.put("_x", user("_x")), "Username may not start with underscore.");
    assertForbidden(here.put("a:b", user("a:b")), "Character `:` is not allowed in usernames.");
  }

  @Test
  void names_and_roles_have_limits() {
    String name = "n".repeat(UserDocumentRule.MAX_NAME_BYTES);
    assertThat(here.put(name, user(name))).isEmpty();
    assertForbidden(here.put(name + "n", user(name + "n")), "doc.name has more than 256 bytes");
    assertThat(here.put("a", user("a", roles(UserDocumentRule.MAX_ROLES)))).isEmpty();
    assertForbidden(
        here.put("b", user("b", roles(UserDocumentRule.MAX_ROLES + 1))),
        "doc.roles has more than 1000 elements");
    assertThat(here.put("c", user("c", "r".repeat(UserDocumentRule.MAX_ROLE_BYTES)))).isEmpty();
    assertForbidden(
        here.put("d", user("d", "r".repeat(UserDocumentRule.MAX_ROLE_BYTES + 1))),
        "doc.roles has a role of more than 256 bytes");
  }

  @Test
  void a_document_has_a_limit() {
    int most = UserDocumentRule.MAX_DOCUMENT_BYTES;
    String head = "{\"type\":\"user\",\"name\":\"a\",\"roles\":[],\"note\":\"";
    String longest = head + "x".repeat(most - head.length() - 2) + "\"}";
    assertThat(here.store(here.edit(UserContext.ADMIN_PARTY, "org.couchdb.user:a", longest)))
        .isEmpty();
    String longer = longest.replace("x\"}", "xx\"}");
    assertThat(here.store(here.edit(UserContext.ADMIN_PARTY, "org.couchdb.user:a", longer)))
        .containsInstanceOf(LectusError.TooLarge.class);
  }

  @Test
  void a_right_that_went_while_the_request_came_in_is_no_right() {
    DatabaseName name = DatabaseName.of("db");
    here.catalogue.create(name, TestLayout.OPTIONS);
    Edit edit = TestAccounts.PARSER.interactive("a", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    Edit local =
        TestAccounts.PARSER.local("_local/a", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    here.catalogue.secure(name, TestAccounts.utf8("{'members':{'names':['bob']}}"));
    for (Edit each : List.of(edit, local)) {
      EditOutcome annas = here.writer.write(name, List.of(each.by(ANNA))).outcomes().get(0);
      assertThat(((EditOutcome.Failed) annas).error())
          .isEqualTo(new LectusError.Forbidden("You are not allowed to access this db."));
      EditOutcome bobs = here.writer.write(name, List.of(each.by(BOB))).outcomes().get(0);
      assertThat(bobs).isNotInstanceOf(EditOutcome.Failed.class);
    }
  }

  @Test
  void an_edit_that_names_nobody_is_anybodys() {
    DatabaseName db = DatabaseName.of("db");
    here.catalogue.create(db, TestLayout.OPTIONS);
    here.catalogue.secure(db, TestAccounts.utf8("{'members':{'names':['bob']}}"));
    Edit plain = TestAccounts.PARSER.interactive("x", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    Edit local =
        TestAccounts.PARSER.local("_local/x", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    for (Edit edit : List.of(plain, local, replicatedByNobody(plain))) {
      assertThat(error(db, edit))
          .contains(new LectusError.Unauthorized("You are not authorized to access this db."));
      assertThat(error(db, edit.by(UserContext.SERVER))).isEmpty();
    }
  }

  private static Edit replicatedByNobody(Edit edit) {
    return new ReplicatedEdit(edit.id(), RevisionPath.of(RevisionId.of("2-b")), false, edit.body());
  }

  @Test
  void a_password_is_never_stored_as_it_is() {
    for (String id : List.of("org.couchdb.user:a", "_design/a", "_local/a", "other")) {
      Edit edit = clear(id);
      assertForbidden(here.store(edit), "A password is not stored in the clear.");
      if (edit instanceof InteractiveEdit) {
        assertForbidden(
            here.store(replicated(edit, "1-a")), "A password is not stored in the clear.");
      }
    }
    here.catalogue.create(DatabaseName.of("a/_users"), TestLayout.OPTIONS);
    EditOutcome outcome =
        here.writer.write(DatabaseName.of("a/_users"), List.of(clear("x"))).outcomes().get(0);
    assertThat(outcome).isInstanceOf(EditOutcome.Failed.class);
  }

  private static Edit clear(String id) {
    byte[] json = TestAccounts.utf8("{'type':'user','name':'a','roles':[],'password':'apple'}");
    Edit edit =
        id.startsWith("_local/")
            ? TestAccounts.PARSER.local(id, NamedRevisions.NONE, json)
            : TestAccounts.PARSER.interactive(id, NamedRevisions.NONE, json);
    return edit.by(UserContext.SERVER);
  }

  @Test
  void a_tombstone_with_a_password_is_not_stored_as_it_is() {
    here.put("a", user("a"));
    assertForbidden(
        here.store(
            here.edit(
                UserContext.ADMIN_PARTY,
                "org.couchdb.user:a",
                "{\"_deleted\":true,\"password\":\"apple\"}")),
        "A password is not stored in the clear.");
  }

  @Test
  void somebody_who_is_not_logged_in_may_register_without_roles() {
    assertForbidden(
        here.put(UserContext.ANONYMOUS, "anna", user("anna", "boss")), "Only _admin may set roles");
    assertThat(here.put(UserContext.ANONYMOUS, "anna", user("anna"))).isEmpty();
    Edit again = here.edit(UserContext.ANONYMOUS, "org.couchdb.user:anna", user("anna"));
    assertForbidden(here.store(again), "You may only update your own user document.");
    assertForbidden(
        here.store(replicated(again, "9-a").by(UserContext.ANONYMOUS)),
        "You may only update your own user document.");
  }

  @Test
  void a_user_changes_himself_but_not_his_roles() {
    here.put("anna", user("anna", "staff"));
    assertThat(here.put(ANNA, "anna", user("anna", "staff"))).isEmpty();
    assertForbidden(
        here.put(ANNA, "anna", user("anna", "staff", "boss")), "Only _admin may edit roles");
    assertForbidden(here.put(ANNA, "anna", user("anna")), "Only _admin may edit roles");
    Edit replicated =
        replicated(here.edit(ANNA, "org.couchdb.user:anna", user("anna", "boss")), "9-a");
    assertForbidden(here.store(replicated), "Only _admin may edit roles");
    assertThat(here.put("anna", user("anna", "boss"))).isEmpty();
  }

  @Test
  void a_user_learns_nothing_of_others() {
    here.put("bob", user("bob"));
    assertThat(here.put(ANNA, "bob", user("bob"))).contains(MISSING);
    assertThat(here.put(ANNA, "carl", user("carl"))).contains(MISSING);
    Edit conflicting =
        TestAccounts.PARSER
            .interactive(
                "org.couchdb.user:bob", NamedRevisions.NONE, TestAccounts.utf8(user("bob")))
            .by(ANNA);
    assertThat(here.store(conflicting)).contains(MISSING);
    assertThat(here.store(replicated(conflicting, "2-a"))).contains(MISSING);
    assertThat(
            here.store(
                TestAccounts.PARSER
                    .local("_local/x", NamedRevisions.NONE, TestAccounts.utf8("{}"))
                    .by(ANNA)))
        .contains(MISSING);
  }

  @Test
  void a_user_deletes_himself_and_nobody_else() {
    here.put("anna", user("anna"));
    assertThat(here.store(here.edit(BOB, "org.couchdb.user:anna", "{\"_deleted\":true}")))
        .contains(MISSING);
    assertForbidden(
        here.store(
            here.edit(UserContext.ANONYMOUS, "org.couchdb.user:anna", "{\"_deleted\":true}")),
        "Only admins may delete other user docs.");
    assertThat(here.store(here.edit(ANNA, "org.couchdb.user:anna", "{\"_deleted\":true}")))
        .isEmpty();
  }

  @Test
  void an_admin_of_the_database_sets_roles_and_one_of_the_server_deletes() {
    here.catalogue.secure(UserDocuments.USERS, TestAccounts.utf8("{'admins':{'names':['anna']}}"));
    assertThat(here.put(ANNA, "bob", user("bob", "staff"))).isEmpty();
    assertForbidden(
        here.store(here.edit(ANNA, "org.couchdb.user:bob", "{\"_deleted\":true}")),
        "Only admins may delete other user docs.");
    assertThat(
            here.store(
                here.edit(
                    UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)),
                    "org.couchdb.user:bob",
                    "{\"_deleted\":true}")))
        .isEmpty();
  }

  @Test
  void design_documents_of_any_database_are_for_its_admins() {
    DatabaseName db = DatabaseName.of("db");
    here.catalogue.create(db, TestLayout.OPTIONS);
    here.catalogue.secure(db, TestAccounts.utf8("{'admins':{'names':['anna']}}"));
    Edit design =
        TestAccounts.PARSER.interactive("_design/x", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    Edit plain = TestAccounts.PARSER.interactive("x", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    String reason = "You are not a db or server admin.";
    assertThat(error(db, design.by(BOB))).contains(new LectusError.Forbidden(reason));
    assertThat(error(db, replicated(design, "1-a").by(BOB)))
        .contains(new LectusError.Forbidden(reason));
    assertThat(error(db, design.by(UserContext.ANONYMOUS)))
        .contains(new LectusError.Unauthorized(reason));
    assertThat(error(db, plain.by(BOB))).isEmpty();
    assertThat(error(db, design.by(ANNA))).isEmpty();
  }

  @Test
  void the_security_object_of_the_transaction_decides() {
    DatabaseName db = DatabaseName.of("db");
    here.catalogue.create(db, TestLayout.OPTIONS);
    here.catalogue.secure(db, TestAccounts.utf8("{'admins':{'names':['anna']}}"));
    Edit design =
        TestAccounts.PARSER.interactive("_design/x", NamedRevisions.NONE, TestAccounts.utf8("{}"));
    try (TestAccounts there = new TestAccounts(here.store)) {
      there.catalogue.secure(db, TestAccounts.utf8("{}"));
    }
    assertThat(error(db, design.by(ANNA))).containsInstanceOf(LectusError.Forbidden.class);
  }

  @Test
  void whoever_is_no_admin_stores_hashes_of_a_limited_number_of_iterations() {
    int most = TestAccounts.MAX_IMPORTED_ITERATIONS;
    String reason = "Only _admin may set more than " + most + " iterations";
    assertThat(here.put(UserContext.ANONYMOUS, "anna", imported("anna", most))).isEmpty();
    assertForbidden(here.put(ANNA, "anna", imported("anna", most + 1)), reason);
    assertForbidden(here.put(UserContext.ANONYMOUS, "bob", imported("bob", most + 1)), reason);
    assertForbidden(
        here.store(replicated(edit("bob", imported("bob", most + 1), BOB), "1-b")), reason);
    assertThat(here.put("bob", imported("bob", most + 1))).isEmpty();
    assertThat(here.put("anna", imported("anna", AccountSettings.MAX_ITERATIONS))).isEmpty();
  }

  @Test
  void a_user_keeps_the_hash_that_an_admin_has_imported() {
    int many = TestAccounts.MAX_IMPORTED_ITERATIONS + 1;
    here.put("anna", imported("anna", many));
    String more = imported("anna", many).replace("}", ",\"mail\":\"a@b\"}");
    assertThat(here.put(ANNA, "anna", more)).isEmpty();
    assertForbidden(
        here.put(ANNA, "anna", more.replace("salt\":\"", "salt\":\"x")),
        "Only _admin may set more than 1000 iterations");
  }

  private static String imported(String name, int iterations) {
    return user(name)
        .replace(
            "}",
            ",\"password_scheme\":\"pbkdf2\",\"pbkdf2_prf\":\"sha256\",\"salt\":\"salt\","
                + ("\"derived_key\":\"" + "a".repeat(64) + "\",\"iterations\":")
                + (iterations + "}"));
  }

  private Edit edit(String name, String json, UserContext by) {
    return here.edit(by, UserDocuments.idOf(name), json);
  }

  @Test
  void a_revision_that_loses_is_judged_like_one_that_wins() {
    here.put("anna", user("anna", "staff"));
    here.put("anna", user("anna", "staff"));
    Edit boss = edit("anna", user("anna", "boss"), ANNA);
    assertForbidden(here.store(replicated(boss, "1-0")), "Only _admin may edit roles");
    Edit same = edit("anna", user("anna", "staff"), ANNA);
    assertThat(here.store(replicated(same.by(BOB), "1-1"))).contains(MISSING);
    assertForbidden(
        here.store(replicated(same.by(UserContext.ANONYMOUS), "1-1")),
        "You may only update your own user document.");
    assertThat(here.store(replicated(same, "1-1"))).isEmpty();
  }

  /** Or another revision might win, with roles that an admin has taken away. */
  @Test
  void a_document_in_conflict_is_settled_by_admins() {
    String reason = "Only admins may delete or replicate a user doc in conflict.";
    here.put("anna", user("anna", "staff"));
    here.put("anna", user("anna", "staff"));
    Edit boss =
        edit(
            "anna",
            user("anna", "boss"),
            UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)));
    assertThat(here.store(replicated(boss, "1-0"))).isEmpty();

    Edit deletion = edit("anna", "{\"_deleted\":true}", ANNA);
    assertForbidden(here.store(deletion), reason);
    assertForbidden(here.store(replicated(deletion, "3-0")), reason);
    assertForbidden(
        here.store(replicated(edit("anna", user("anna", "staff"), ANNA), "3-0")), reason);
    assertThat(here.put(ANNA, "anna", user("anna", "staff"))).isEmpty();

    assertThat(
            here.store(
                edit(
                    "anna",
                    "{\"_deleted\":true}",
                    UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)))))
        .isEmpty();
    assertThat(here.store(edit("anna", "{\"_deleted\":true}", ANNA))).isEmpty();
  }

  @Test
  void a_history_that_ends_another_revision_is_judged_though_its_leaf_is_known() {
    here.put("anna", user("anna"));
    Edit tombstone =
        edit(
            "anna",
            "{\"_deleted\":true}",
            UserContext.named("root", Set.of(UserContext.SERVER_ADMIN)));
    assertThat(here.store(replicated(tombstone, "2-a"))).isEmpty();
    RevisionId live = RevisionId.of(text(here.document("anna"), "_rev"));
    Edit known =
        new ReplicatedEdit(
            tombstone.id(),
            RevisionPath.of(live).followedBy(RevisionId.of("2-a")),
            true,
            tombstone.body());

    assertForbidden(here.store(known), "Only admins may delete other user docs.");
    assertThat(text(here.document("anna"), "_rev")).isEqualTo(live.toString());
    assertThat(here.store(known.by(ANNA))).isEmpty();
  }

  private static String text(JsonObject members, String name) {
    return ((JsonString) members.get(name).orElseThrow()).value();
  }

  private Optional<LectusError> error(DatabaseName db, Edit edit) {
    EditOutcome outcome = here.writer.write(db, List.of(edit)).outcomes().get(0);
    return outcome instanceof EditOutcome.Failed failed
        ? Optional.of(failed.error())
        : Optional.empty();
  }

  private static Edit replicated(Edit edit, String revision) {
    return new ReplicatedEdit(
            edit.id(), RevisionPath.of(RevisionId.of(revision)), edit.deleted(), edit.body())
        .by(edit.by());
  }

  private static String[] roles(int number) {
    return IntStream.range(0, number).mapToObj(i -> "r" + i).toArray(String[]::new);
  }

  private static String user(String name, String... roles) {
    String listed =
        List.of(roles).stream().map(role -> '"' + role + '"').collect(Collectors.joining(","));
    return "{\"type\":\"user\",\"name\":\"" + name + "\",\"roles\":[" + listed + "]}";
  }

  private static void assertForbidden(Optional<LectusError> error, String reason) {
    assertThat(error).contains(new LectusError.Forbidden(reason));
  }
}
