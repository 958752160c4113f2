package lectus.database.testing;

import java.util.Optional;
import lectus.database.CreationOptions;
import lectus.database.DatabaseConfiguration.BodyLayout;

/** The layout of databases in tests, which {@code lectus.test.layout} chooses. */
public final class TestLayout {
  public static final BodyLayout OF_RUN =
      BodyLayout.named(System.getProperty("lectus.test.layout", "inline")).orElseThrow();

  public static final CreationOptions OPTIONS = options(false, 1);

  private TestLayout() {}

  public static CreationOptions options(boolean partitioned, int changesShards) {
    return new CreationOptions(partitioned, changesShards, Optional.of(OF_RUN));
  }

  public static CreationOptions options(BodyLayout layout) {
    return new CreationOptions(false, 1, Optional.of(layout));
  }
}
