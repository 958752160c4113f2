package lectus.database;

import static lectus.database.UserContext.DatabaseRight.ADMIN;
import static lectus.database.UserContext.DatabaseRight.MEMBER;
import static lectus.database.UserContext.DatabaseRight.NONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import lectus.database.UserContext.DatabaseRight;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecurityObjectTest {
  private static final UserContext ANNA = UserContext.named("anna", Set.of("staff"));
  private static final UserContext ROOT =
      UserContext.named("root", Set.of(UserContext.SERVER_ADMIN));

  @Test
  void only_server_admins_may_use_a_database_with_the_default_of_couchdb() {
    assertThat(SecurityObject.ADMIN_ONLY.rightOf(UserContext.ANONYMOUS)).isEqualTo(NONE);
    assertThat(SecurityObject.ADMIN_ONLY.rightOf(ANNA)).isEqualTo(NONE);
    assertThat(SecurityObject.ADMIN_ONLY.rightOf(ROOT)).isEqualTo(ADMIN);
    assertThat(SecurityObject.ADMIN_ONLY.rightOf(UserContext.ADMIN_PARTY)).isEqualTo(ADMIN);
  }

  @Test
  void everybody_is_a_member_where_members_name_nobody() {
    assertThat(SecurityObject.EVERYBODY.rightOf(UserContext.ANONYMOUS)).isEqualTo(MEMBER);
    assertThat(rightOf(UserContext.ANONYMOUS, "{'admins':{'names':['anna']}}")).isEqualTo(MEMBER);
    assertThat(rightOf(ANNA, "{'admins':{'names':['anna']}}")).isEqualTo(ADMIN);
  }

  @Test
  void names_and_roles_make_members_and_admins() {
    String security =
        "{'members':{'names':['anna'],'roles':['guest']},'admins':{'roles':['boss']}}";
    assertThat(rightOf(UserContext.ANONYMOUS, security)).isEqualTo(NONE);
    assertThat(rightOf(ANNA, security)).isEqualTo(MEMBER);
    assertThat(rightOf(UserContext.named("bob", Set.of("guest")), security)).isEqualTo(MEMBER);
    assertThat(rightOf(UserContext.named("bob", Set.of("boss")), security)).isEqualTo(ADMIN);
    assertThat(rightOf(UserContext.named("bob", Set.of("other")), security)).isEqualTo(NONE);
    assertThat(rightOf(ROOT, security)).isEqualTo(ADMIN);
  }

  @Test
  void a_name_is_no_role() {
    assertThat(rightOf(UserContext.named("staff", Set.of()), "{'members':{'roles':['staff']}}"))
        .isEqualTo(NONE);
    assertThat(rightOf(ANNA, "{'members':{'names':['staff']}}")).isEqualTo(NONE);
  }

  @Test
  void readers_are_members_where_there_are_none() {
    assertThat(rightOf(UserContext.ANONYMOUS, "{'readers':{'names':['anna']}}")).isEqualTo(NONE);
    assertThat(rightOf(ANNA, "{'readers':{'names':['anna']}}")).isEqualTo(MEMBER);
    assertThat(rightOf(ANNA, "{'readers':{'names':['anna']},'members':{'names':['bob']}}"))
        .isEqualTo(NONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'admins':{'names':'anna'}}    | names must be a JSON list of strings
          {'members':{'roles':[1]}}      | roles must be a JSON list of strings
          {'admins':['anna']}            | admins or members must be a JSON list of strings
          {'readers':null}               | admins or members must be a JSON list of strings
          []                             | Request body must be a JSON object
          """,
      quoteCharacter = '"')
  void a_malformed_one_is_refused_and_if_stored_admits_only_server_admins(
      String json, String reason) {
    assertThatThrownBy(() -> SecurityObject.parse(utf8(json))).hasMessage("bad_request: " + reason);
    assertThat(SecurityObject.ofStored(utf8(json))).isEqualTo(SecurityObject.ADMIN_ONLY);
  }

  @Test
  void its_memory_grows_with_its_names() {
    long few = SecurityObject.parse(utf8("{'members':{'names':['a']}}")).heapBytes();
    long many = SecurityObject.parse(utf8("{'members':{'names':['a','bb']}}")).heapBytes();
    assertThat(SecurityObject.EVERYBODY.heapBytes()).isZero();
    assertThat(few).isPositive();
    assertThat(many).isGreaterThan(2 * few);
  }

  private static DatabaseRight rightOf(UserContext user, String json) {
    return SecurityObject.parse(utf8(json)).rightOf(user);
  }

  private static byte[] utf8(String json) {
    return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }
}
