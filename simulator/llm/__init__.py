"""What large language models ask of a machine: models, parallel plans, states, memory and traffic."""
