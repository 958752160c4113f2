package lectus.database.testing;

import lectus.database.CreationOptions;
import lectus.database.DatabaseConfiguration.BodyLayout;

/** The layout of databases in tests, which {@code lectus.test.layout} chooses. */
public final class TestLayout {
  public static final BodyLayout OF_RUN =
      BodyLayout.named(System.getProperty("lectus.test.layout", "inline")).orElseThrow();

  public static final CreationOptions OPTIONS = CreationOptions.DEFAULT.with(OF_RUN);

  private TestLayout() {}

  public static CreationOptions options(boolean partitioned, int changesShards) {
    return new CreationOptions(partitioned, changesShards).with(OF_RUN);
  }
}
