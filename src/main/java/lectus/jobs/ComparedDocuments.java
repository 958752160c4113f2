package lectus.jobs;

import java.util.List;
import java.util.Optional;

/**
 * The result of comparing documents that follow each other with what is kept of them.
 *
 * @param last where the next documents begin; empty if no others follow
 */
public record ComparedDocuments<P>(Optional<P> last, List<WrongRow> wrong) {
  public static <P> ComparedDocuments<P> none() {
    return new ComparedDocuments<>(Optional.empty(), List.of());
  }
}
