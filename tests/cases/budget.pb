META
key; value
description; Bird boxes
num_projects; 3
num_votes; 3
vote_type; approval
min_length; 1
max_length; 3
PROJECTS
project_id; cost; category
1; 600; nests
2; 800; feeders
4; 1400; nests
VOTES
voter_id; age; vote
1; 34; 1,2,4
2; 51; 
7; 23; 4
