"""How good: accuracies against gold answers, comparisons between rules, and the quiz's ranking of participants."""
