package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class JsonValueTest {
  @Property
  void what_is_read_is_written_again(
      @ForAll("objects") Map<String, Object> object, @ForAll Random random) {
    JsonBuffer out = new JsonBuffer(16);
    parse(JsonModel.write(object, random)).writeTo(out);
    assertThat(JsonModel.read(out.toBytes())).isEqualTo(object);
  }

  @Test
  void values_of_all_kinds() {
    JsonObject object = (JsonObject) parse("{\"a\":[\"x\",-1.50,true,null,{}],\"b\":1,\"b\":2}");
    assertThat(object.get("b")).contains(new JsonNumber("2"));
    assertThat(object.get("c")).isEmpty();
    assertThat(((JsonArray) object.members().get("a")).elements())
        .containsExactly(
            new JsonString("x"),
            new JsonNumber("-1.50"),
            new JsonBool(true),
            new JsonNull(),
            new JsonObject(Map.of()));
    assertThat(parse(" 5 ")).isEqualTo(new JsonNumber("5"));
  }

  @Test
  void depth_is_limited() {
    int deepest = JsonValue.DEEPEST;
    assertThat(parse("[".repeat(deepest) + "]".repeat(deepest))).isInstanceOf(JsonArray.class);
    Bodies.assertBadRequest(() -> parse("[".repeat(deepest + 1) + "]".repeat(deepest + 1)))
        .isEqualTo("Invalid JSON at line 1, column 501: nested deeper than 500");
    Bodies.assertBadRequest(() -> parse("{\"a\":".repeat(5_000))).contains("nested deeper");
  }

  @Test
  void more_or_less_than_one_value_is_refused() {
    Bodies.assertBadRequest(() -> parse("")).contains("unexpected end");
    Bodies.assertBadRequest(() -> parse("{} {}")).contains("column 4: unexpected content");
    Bodies.assertBadRequest(() -> parse("[\"\\ud800\"]")).contains("surrogate");
    Bodies.assertBadRequest(() -> parse("[1,]")).contains("column 4");
  }

  @Provide
  Arbitrary<Map<String, Object>> objects() {
    return JsonModel.objects();
  }

  private static JsonValue parse(String json) {
    return JsonValue.parse(json.getBytes(StandardCharsets.UTF_8));
  }
}
