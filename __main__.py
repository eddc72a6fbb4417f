"""`python -m orgflow` is the command line `orgflowc`."""

from orgflow.cli import main

if __name__ == "__main__":
    main()
