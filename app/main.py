from app.server.shell import serve_page

serve_page()
