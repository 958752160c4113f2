package lectus.document.write;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.document.edit.Edit;
import lectus.document.write.Judge.Question;
import lectus.document.write.Judge.Verdict;
import lectus.error.LectusError;

/**
 * The edits of a write that functions have to judge, between a transaction that has planned them
 * and the next one, which makes them if what was judged is still so.
 */
public final class UnjudgedEdits {
  /** How often in a row nothing of a write may come of its verdicts, since others keep editing. */
  private static final int MAX_ROUNDS = 10;

  /** Null at the places of the edits that are to be made again. */
  private final EditOutcome[] outcomes;

  private final List<Integer> places;
  private final List<Edit> edits;
  private final List<Optional<Question>> questions;
  private final List<Verdict> verdicts;
  private final int round;

  private UnjudgedEdits(
      EditOutcome[] outcomes,
      List<Integer> places,
      List<Edit> edits,
      List<Optional<Question>> questions,
      List<Verdict> verdicts,
      int round) {
    this.outcomes = outcomes;
    this.places = places;
    this.edits = edits;
    this.questions = questions;
    this.verdicts = verdicts;
    this.round = round;
  }

  /**
   * Returns those of a write, of which there are some.
   *
   * @param edits of the write
   * @param outcomes one for each
   * @param isAtomic whether all edits have to be made again
   * @param former what the write was made from; empty the first time
   */
  public static UnjudgedEdits of(
      List<? extends Edit> edits,
      List<EditOutcome> outcomes,
      boolean isAtomic,
      Optional<UnjudgedEdits> former) {
    EditOutcome[] known = outcomes.toArray(EditOutcome[]::new);
    List<Integer> places = new ArrayList<>();
    List<Edit> left = new ArrayList<>();
    List<Optional<Question>> questions = new ArrayList<>();
    for (int place = 0; place < known.length; place++) {
      if (isAtomic || known[place] instanceof EditOutcome.Unjudged) {
        places.add(place);
        left.add(edits.get(place));
        questions.add(
            known[place] instanceof EditOutcome.Unjudged unjudged
                ? unjudged.question()
                : Optional.empty());
        known[place] = null;
      }
    }
    boolean isProgress = left.size() < edits.size() || former.isEmpty();
    int round = isProgress ? 0 : former.get().round + 1;
    return new UnjudgedEdits(known, places, left, questions, List.of(), round);
  }

  /** Whether it makes no sense to have them judged once more. */
  public boolean areContended() {
    return round >= MAX_ROUNDS;
  }

  /** Returns the edits to be made again, in the order of the write. */
  public List<Edit> edits() {
    return edits;
  }

  /** Returns the questions to be answered before, in the order of the edits. */
  public List<Question> questions() {
    return questions.stream().flatMap(Optional::stream).toList();
  }

  /**
   * Returns them with the verdicts, and without the questions, which take memory.
   *
   * @param answers one for each question
   */
  public UnjudgedEdits answered(List<Verdict> answers) {
    List<Verdict> all = new ArrayList<>(edits.size());
    int next = 0;
    for (Optional<Question> question : questions) {
      all.add(question.isPresent() ? answers.get(next++) : null);
    }
    return new UnjudgedEdits(outcomes, places, edits, List.of(), all, round);
  }

  /** Returns them without the questions, to be planned again. That does not count as a round. */
  public UnjudgedEdits unanswered() {
    List<Verdict> none = Collections.nCopies(edits.size(), null);
    return new UnjudgedEdits(outcomes, places, edits, List.of(), none, round - 1);
  }

  /** Returns the verdict on each edit; null where there is none. */
  public List<Verdict> verdicts() {
    return verdicts;
  }

  /**
   * Returns the outcomes of the write.
   *
   * @param later those of {@link #edits}
   */
  public List<EditOutcome> with(List<EditOutcome> later) {
    EditOutcome[] all = outcomes.clone();
    for (int i = 0; i < later.size(); i++) {
      all[places.get(i)] = later.get(i);
    }
    return Arrays.asList(all);
  }

  /** Returns the outcomes of the write if none of {@link #edits} can be made. */
  public List<EditOutcome> failed(LectusError error) {
    return with(edits.stream().map(edit -> EditFailures.of(edit, error)).toList());
  }

  /** Returns the outcomes of a write whose edits {@linkplain #areContended are contended}. */
  public List<EditOutcome> contended() {
    return failed(DocumentWriter.tooContended());
  }

  /** Whether something of the write is stored or refused, so that its client has to be told. */
  public boolean areOthersDone() {
    return edits.size() < outcomes.length;
  }

  /** Returns about how many bytes of memory the questions take. */
  public long bytes() {
    return questions.stream().flatMap(Optional::stream).mapToLong(Question::bytes).sum();
  }

  /** Returns the ids of the documents. */
  public Stream<String> ids() {
    return edits.stream().map(Edit::id);
  }
}
