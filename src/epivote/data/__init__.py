"""What everything else works on: ballots, size bounds, parameters, truths, estimates."""
