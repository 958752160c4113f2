package lectus.config;

/** How often a server looks for changes that nobody told it of. */
public final class PollKeys {
  static final KeySection SECTION = new KeySection("Change feeds");

  public static final ConfigurationKey<Integer> POLL_BUSY_MILLIS =
      SECTION.number(
          "poll.busy-millis",
          100,
          10,
          3_600_000,
          """
          Listeners are told of changes as they happen. In addition, a server looks for
          itself whether databases with listeners have changed, in case nobody told it.
          This is the pause after a look that found such a change, in milliseconds.
          """);

  public static final ConfigurationKey<Integer> POLL_IDLE_MILLIS =
      SECTION.number(
          "poll.idle-millis",
          2_000,
          10,
          3_600_000,
          """
          While looks find nothing, the pauses between them double up to this many
          milliseconds. Not less than poll.busy-millis.
          """);

  private PollKeys() {}
}
