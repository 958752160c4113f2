package lectus.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import lectus.json.PlacedStrings.Step;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The strings of random JSON that stand at a place, however the JSON is cut. */
class PlacedStringsTest {
  private static final List<Step> WAY =
      List.of(Step.member("docs"), Step.ELEMENT, Step.member("_a"), Step.ANY_MEMBER);
  private static final Set<String> WANTED = Set.of("data", "type");
  private static final String[] NAMES = {
    "docs", "_a", "data", "type", "", "x", "d\\u0061ta", "\\u005fa", "\\\"", "docs\\\\", "\u00fc"
  };
  private static final String[] TEXTS = {
    "", "data", "\\\\", "\\\"", "[", "{", "}", "]", ",", ":", "\\u0022", "long ".repeat(9), "\u20ac"
  };

  private static final class Found implements PlacedStrings.Taker {
    private final ByteArrayOutputStream rest = new ByteArrayOutputStream();
    private final ByteArrayOutputStream string = new ByteArrayOutputStream();
    private final List<String> strings = new ArrayList<>();

    @Override
    public void rest(byte[] json, int from, int to) {
      rest.write(json, from, to - from);
    }

    @Override
    public void begins(String member, long object) {
      strings.add(member);
    }

    @Override
    public void content(byte[] json, int from, int to) {
      string.write(json, from, to - from);
    }

    @Override
    public void ends() {
      strings.add(string.toString(StandardCharsets.UTF_8));
      string.reset();
    }
  }

  /** Writes random JSON, and notes what is to be found and what is left of it then. */
  private static final class Writer {
    private final Random random;
    private final StringBuilder json = new StringBuilder();
    private final StringBuilder rest = new StringBuilder();
    private final List<String> expected = new ArrayList<>();

    Writer(Random random) {
      this.random = random;
    }

    private void both(String text) {
      json.append(text);
      rest.append(text);
    }

    /**
     * @param at how many steps of the way led here; negative: it was left
     */
    void value(int at, int depth) {
      boolean isOnWay = at >= 0 && random.nextInt(8) > 0;
      boolean isElement = isOnWay && at < WAY.size() && WAY.get(at).isElement();
      int kind = isOnWay && at <= WAY.size() ? (isElement ? 1 : 0) : random.nextInt(4);
      if (kind == 0 && depth < 7) {
        object(at, depth);
      } else if (kind == 1 && depth < 7) {
        array(at, depth);
      } else {
        both(kind == 2 ? "-1.5e3" : '"' + text() + '"');
      }
    }

    private String text() {
      return TEXTS[random.nextInt(TEXTS.length)];
    }

    private void array(int at, int depth) {
      boolean isStep = at >= 0 && at < WAY.size() && WAY.get(at).isElement();
      both("[");
      for (int i = random.nextInt(4); i > 0; i--) {
        value(isStep ? at + 1 : -1, depth + 1);
        both(i > 1 ? " ," : "");
      }
      both("]");
    }

    private void object(int at, int depth) {
      both(" {");
      for (int i = random.nextInt(5); i > 0; i--) {
        String name = NAMES[random.nextInt(NAMES.length)];
        both('"' + name + "\" :");
        member(at, name.replace("\\u0061", "a").replace("\\u005f", "_"), depth);
        both(i > 1 ? "," : "");
      }
      both("}");
    }

    private void member(int at, String name, int depth) {
      boolean isWanted = at == WAY.size() && WANTED.contains(name);
      if (isWanted && depth < 7 && random.nextInt(4) == 0) {
        array(-1, depth + 1);
      } else if (isWanted) {
        String text = text();
        both("\"");
        json.append(text);
        both("\"");
        expected.add(name);
        expected.add(text);
      } else {
        boolean isStep =
            at >= 0
                && at < WAY.size()
                && !WAY.get(at).isElement()
                && WAY.get(at).name().map(name::equals).orElse(true);
        value(isStep ? at + 1 : -1, depth + 1);
      }
    }
  }

  @Property(tries = 3_000)
  void they_are_found_and_everything_else_is_passed_on(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int piece) {
    Writer writer = new Writer(new Random(seed));
    writer.object(0, 0);
    byte[] json = writer.json.toString().getBytes(StandardCharsets.UTF_8);
    Found found = new Found();
    PlacedStrings strings = new PlacedStrings(WAY, WANTED, found);
    for (int from = 0; from < json.length; from += piece) {
      strings.take(json, from, Math.min(json.length, from + piece));
    }
    assertThat(found.strings).as(writer.json.toString()).isEqualTo(writer.expected);
    assertThat(found.rest.toString(StandardCharsets.UTF_8)).isEqualTo(writer.rest.toString());
  }

  @Property
  void whatever_comes_goes_somewhere(@ForAll byte[] any) {
    Found found = new Found();
    new PlacedStrings(List.of(), WANTED, found).take(any, 0, any.length);
    assertThat(found.rest.size()).isLessThanOrEqualTo(any.length);
  }
}
