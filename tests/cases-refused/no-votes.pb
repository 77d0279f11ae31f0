META
key;value
vote_type;approval
PROJECTS
project_id;cost
1;5
