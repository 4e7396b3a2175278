"""What an account uses: hectares, projects, members, requests."""
