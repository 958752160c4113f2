package lectus.config;

/** The version in the jar's manifest. */
public final class Version {
  private Version() {}

  /** Returns a version such as 0.2.0; "development" outside of a jar. */
  public static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
