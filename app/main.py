from app.shell import serve_page

serve_page()
