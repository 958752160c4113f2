package lectus.cli;

import lectus.config.Version;
import picocli.CommandLine.IVersionProvider;

/** The answer to {@code --version}. */
public final class VersionLine implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"Lectus " + Version.text()};
  }
}
